package schema

import "strings"

// standardDocument returns the meta-schema with a URI. They are written here as
// far as they decide about a verdict, which a reference to one of them asks
// for; compiling a schema does not need them, since the compiler itself checks
// each keyword and says more about what is wrong.
func standardDocument(uri string) (string, bool) {
	if uri == string(Draft7) {
		return metaDraft7, true
	}
	name, ok := strings.CutPrefix(uri, metaBase)
	if !ok {
		return "", false
	}
	switch name {
	case "schema":
		return metaDraft2020, true
	case "meta/core":
		return metaVocabulary("core", metaCore), true
	case "meta/applicator":
		return metaVocabulary("applicator", metaApplicator), true
	case "meta/unevaluated":
		return metaVocabulary("unevaluated", metaUnevaluated), true
	case "meta/validation":
		return metaVocabulary("validation", metaValidation), true
	case "meta/meta-data":
		return metaVocabulary("meta-data", metaData), true
	case "meta/format-annotation":
		return metaVocabulary("format-annotation", metaFormat), true
	case "meta/format-assertion":
		return metaVocabulary("format-assertion", metaFormat), true
	case "meta/content":
		return metaVocabulary("content", metaContent), true
	}
	return "", false
}

const metaBase = "https://json-schema.org/draft/2020-12/"

// metaVocabulary makes the meta-schema of a vocabulary from what it says of its
// keywords.
func metaVocabulary(name, properties string) string {
	return `{"$schema":"` + metaBase + `schema","$id":"` + metaBase + `meta/` + name + `",` +
		`"$vocabulary":{"` + vocabPrefix + name + `":true},"$dynamicAnchor":"meta","type":["object","boolean"],` +
		`"properties":{` + properties + `},"$defs":{` +
		`"one":{"$dynamicRef":"#meta"},` +
		`"list":{"type":"array","minItems":1,"items":{"$dynamicRef":"#meta"}},` +
		`"map":{"type":"object","additionalProperties":{"$dynamicRef":"#meta"}},` +
		`"count":{"type":"integer","minimum":0},` +
		`"names":{"type":"array","items":{"type":"string"},"uniqueItems":true},` +
		`"type":{"enum":["array","boolean","integer","null","number","object","string"]}}}`
}

const (
	metaDraft2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema",` +
		`"$id":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"meta","type":["object","boolean"],` +
		`"$vocabulary":{"https://json-schema.org/draft/2020-12/vocab/core":true,` +
		`"https://json-schema.org/draft/2020-12/vocab/applicator":true,` +
		`"https://json-schema.org/draft/2020-12/vocab/unevaluated":true,` +
		`"https://json-schema.org/draft/2020-12/vocab/validation":true,` +
		`"https://json-schema.org/draft/2020-12/vocab/meta-data":true,` +
		`"https://json-schema.org/draft/2020-12/vocab/format-annotation":true,` +
		`"https://json-schema.org/draft/2020-12/vocab/content":true},` +
		`"allOf":[{"$ref":"meta/core"},{"$ref":"meta/applicator"},{"$ref":"meta/unevaluated"},{"$ref":"meta/validation"},` +
		`{"$ref":"meta/meta-data"},{"$ref":"meta/format-annotation"},{"$ref":"meta/content"}],` +
		`"properties":{"definitions":{"type":"object","additionalProperties":{"$dynamicRef":"#meta"}},` +
		`"dependencies":{"type":"object","additionalProperties":{"anyOf":[{"$dynamicRef":"#meta"},` +
		`{"type":"array","items":{"type":"string"},"uniqueItems":true}]}},` +
		`"$recursiveAnchor":{"type":"string","pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"},` +
		`"$recursiveRef":{"type":"string","format":"uri-reference"}}}`

	metaCore = `"$id":{"type":"string","format":"uri-reference","pattern":"^[^#]*#?$"},` +
		`"$schema":{"type":"string","format":"uri"},` +
		`"$ref":{"type":"string","format":"uri-reference"},` +
		`"$anchor":{"type":"string","pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"},` +
		`"$dynamicRef":{"type":"string","format":"uri-reference"},` +
		`"$dynamicAnchor":{"type":"string","pattern":"^[A-Za-z_][-A-Za-z0-9._]*$"},` +
		`"$vocabulary":{"type":"object","propertyNames":{"type":"string","format":"uri"},"additionalProperties":{"type":"boolean"}},` +
		`"$comment":{"type":"string"},"$defs":{"$ref":"#/$defs/map"}`

	metaApplicator = `"prefixItems":{"$ref":"#/$defs/list"},"items":{"$ref":"#/$defs/one"},"contains":{"$ref":"#/$defs/one"},` +
		`"additionalProperties":{"$ref":"#/$defs/one"},"properties":{"$ref":"#/$defs/map"},` +
		`"patternProperties":{"$ref":"#/$defs/map","propertyNames":{"format":"regex"}},` +
		`"dependentSchemas":{"$ref":"#/$defs/map"},"propertyNames":{"$ref":"#/$defs/one"},` +
		`"if":{"$ref":"#/$defs/one"},"then":{"$ref":"#/$defs/one"},"else":{"$ref":"#/$defs/one"},` +
		`"allOf":{"$ref":"#/$defs/list"},"anyOf":{"$ref":"#/$defs/list"},"oneOf":{"$ref":"#/$defs/list"},"not":{"$ref":"#/$defs/one"}`

	metaUnevaluated = `"unevaluatedItems":{"$ref":"#/$defs/one"},"unevaluatedProperties":{"$ref":"#/$defs/one"}`

	metaValidation = `"type":{"anyOf":[{"$ref":"#/$defs/type"},` +
		`{"type":"array","items":{"$ref":"#/$defs/type"},"minItems":1,"uniqueItems":true}]},` +
		`"const":true,"enum":{"type":"array"},"multipleOf":{"type":"number","exclusiveMinimum":0},` +
		`"maximum":{"type":"number"},"exclusiveMaximum":{"type":"number"},"minimum":{"type":"number"},"exclusiveMinimum":{"type":"number"},` +
		`"maxLength":{"$ref":"#/$defs/count"},"minLength":{"$ref":"#/$defs/count"},"pattern":{"type":"string","format":"regex"},` +
		`"maxItems":{"$ref":"#/$defs/count"},"minItems":{"$ref":"#/$defs/count"},"uniqueItems":{"type":"boolean"},` +
		`"maxContains":{"$ref":"#/$defs/count"},"minContains":{"$ref":"#/$defs/count"},` +
		`"maxProperties":{"$ref":"#/$defs/count"},"minProperties":{"$ref":"#/$defs/count"},` +
		`"required":{"$ref":"#/$defs/names"},"dependentRequired":{"type":"object","additionalProperties":{"$ref":"#/$defs/names"}}`

	metaData = `"title":{"type":"string"},"description":{"type":"string"},"default":true,"deprecated":{"type":"boolean"},` +
		`"readOnly":{"type":"boolean"},"writeOnly":{"type":"boolean"},"examples":{"type":"array"}`

	metaFormat = `"format":{"type":"string"}`

	metaContent = `"contentEncoding":{"type":"string"},"contentMediaType":{"type":"string"},"contentSchema":{"$ref":"#/$defs/one"}`

	metaDraft7 = `{"$schema":"http://json-schema.org/draft-07/schema#","$id":"http://json-schema.org/draft-07/schema#",` +
		`"type":["object","boolean"],"properties":{` +
		`"$id":{"type":"string","format":"uri-reference"},"$schema":{"type":"string","format":"uri"},` +
		`"$ref":{"type":"string","format":"uri-reference"},"$comment":{"type":"string"},` +
		`"title":{"type":"string"},"description":{"type":"string"},"default":true,` +
		`"readOnly":{"type":"boolean"},"writeOnly":{"type":"boolean"},"examples":{"type":"array"},` +
		`"multipleOf":{"type":"number","exclusiveMinimum":0},` +
		`"maximum":{"type":"number"},"exclusiveMaximum":{"type":"number"},"minimum":{"type":"number"},"exclusiveMinimum":{"type":"number"},` +
		`"maxLength":{"$ref":"#/definitions/count"},"minLength":{"$ref":"#/definitions/count"},"pattern":{"type":"string","format":"regex"},` +
		`"additionalItems":{"$ref":"#"},"items":{"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/list"}]},` +
		`"maxItems":{"$ref":"#/definitions/count"},"minItems":{"$ref":"#/definitions/count"},"uniqueItems":{"type":"boolean"},` +
		`"contains":{"$ref":"#"},"maxProperties":{"$ref":"#/definitions/count"},"minProperties":{"$ref":"#/definitions/count"},` +
		`"required":{"$ref":"#/definitions/names"},"additionalProperties":{"$ref":"#"},` +
		`"definitions":{"$ref":"#/definitions/map"},"properties":{"$ref":"#/definitions/map"},` +
		`"patternProperties":{"allOf":[{"$ref":"#/definitions/map"},{"propertyNames":{"format":"regex"}}]},` +
		`"dependencies":{"type":"object","additionalProperties":{"anyOf":[{"$ref":"#"},{"$ref":"#/definitions/names"}]}},` +
		`"propertyNames":{"$ref":"#"},"const":true,"enum":{"type":"array"},` +
		`"type":{"anyOf":[{"$ref":"#/definitions/type"},` +
		`{"type":"array","items":{"$ref":"#/definitions/type"},"minItems":1,"uniqueItems":true}]},` +
		`"format":{"type":"string"},"contentMediaType":{"type":"string"},"contentEncoding":{"type":"string"},` +
		`"if":{"$ref":"#"},"then":{"$ref":"#"},"else":{"$ref":"#"},` +
		`"allOf":{"$ref":"#/definitions/list"},"anyOf":{"$ref":"#/definitions/list"},"oneOf":{"$ref":"#/definitions/list"},"not":{"$ref":"#"}},` +
		`"definitions":{"list":{"type":"array","minItems":1,"items":{"$ref":"#"}},` +
		`"map":{"type":"object","additionalProperties":{"$ref":"#"}},"count":{"type":"integer","minimum":0},` +
		`"names":{"type":"array","items":{"type":"string"},"uniqueItems":true},` +
		`"type":{"enum":["array","boolean","integer","null","number","object","string"]}}}`
)
