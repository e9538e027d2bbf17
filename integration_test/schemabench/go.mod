module cloudg.dev/cloudg/integration_test/schemabench

go 1.25.0

require (
	cloudg.dev/cloudg v0.0.0
	github.com/google/jsonschema-go v0.4.3
	github.com/santhosh-tekuri/jsonschema/v6 v6.0.2
)

require golang.org/x/text v0.14.0 // indirect

replace cloudg.dev/cloudg => ../..
