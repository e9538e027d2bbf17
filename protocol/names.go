package protocol

// Methods of requests.
const (
	MethodInitialize             string = "initialize"
	MethodPing                   string = "ping"
	MethodDiscover               string = "server/discover"
	MethodToolsList              string = "tools/list"
	MethodToolsCall              string = "tools/call"
	MethodResourcesList          string = "resources/list"
	MethodResourcesTemplatesList string = "resources/templates/list"
	MethodResourcesRead          string = "resources/read"
	MethodResourcesSubscribe     string = "resources/subscribe"
	MethodResourcesUnsubscribe   string = "resources/unsubscribe"
	MethodPromptsList            string = "prompts/list"
	MethodPromptsGet             string = "prompts/get"
	MethodComplete               string = "completion/complete"
	MethodSetLevel               string = "logging/setLevel"
	MethodListen                 string = "subscriptions/listen"
	MethodElicit                 string = "elicitation/create"
	MethodSample                 string = "sampling/createMessage"
	MethodRootsList              string = "roots/list"
	MethodTasksGet               string = "tasks/get"
	MethodTasksUpdate            string = "tasks/update"
	MethodTasksCancel            string = "tasks/cancel"
)

// Methods of notifications.
const (
	NotifyInitialized          string = "notifications/initialized"
	NotifyCancelled            string = "notifications/cancelled"
	NotifyProgress             string = "notifications/progress"
	NotifyMessage              string = "notifications/message"
	NotifyToolsListChanged     string = "notifications/tools/list_changed"
	NotifyPromptsListChanged   string = "notifications/prompts/list_changed"
	NotifyResourcesListChanged string = "notifications/resources/list_changed"
	NotifyResourceUpdated      string = "notifications/resources/updated"
	NotifyRootsListChanged     string = "notifications/roots/list_changed"
	NotifyElicitComplete       string = "notifications/elicitation/complete"
	NotifyAcknowledged         string = "notifications/subscriptions/acknowledged"
	NotifyTasks                string = "notifications/tasks"
)

// Keys of the metadata object of requests, results and notifications.
const (
	MetaProtocolVersion    string = "io.modelcontextprotocol/protocolVersion"
	MetaClientInfo         string = "io.modelcontextprotocol/clientInfo"
	MetaClientCapabilities string = "io.modelcontextprotocol/clientCapabilities"
	MetaLogLevel           string = "io.modelcontextprotocol/logLevel"
	MetaServerInfo         string = "io.modelcontextprotocol/serverInfo"
	MetaSubscriptionID     string = "io.modelcontextprotocol/subscriptionId"
	MetaProgressToken      string = "progressToken"
	MetaTraceParent        string = "traceparent"
	MetaTraceState         string = "tracestate"
	MetaBaggage            string = "baggage"
)

// Error codes. Those from -32020 on belong to the stateless era only.
const (
	CodeParse              int = -32700
	CodeInvalidRequest     int = -32600
	CodeMethodNotFound     int = -32601
	CodeInvalidParams      int = -32602
	CodeInternal           int = -32603
	CodeResourceNotFound   int = -32002 // handshake era only
	CodeURLElicitation     int = -32042 // 2025-11-25 only
	CodeHeaderMismatch     int = -32020 // HTTP only
	CodeMissingCapability  int = -32021
	CodeUnsupportedVersion int = -32022
	// CodeAccessDenied and CodeRateLimited are ours, outside the range that
	// JSON-RPC reserves.
	CodeAccessDenied int = -31001
	CodeRateLimited  int = -31029
)

// Values of resultType.
const (
	ResultComplete      string = "complete"
	ResultInputRequired string = "input_required"
	ResultTask          string = "task" // of the tasks extension
)

// Extensions of the protocol.
const (
	ExtensionTasks  string = "io.modelcontextprotocol/tasks"
	ExtensionSkills string = "io.modelcontextprotocol/skills"
	ExtensionUI     string = "io.modelcontextprotocol/ui"
)

// MaxCompletionValues is how many values a completion may have.
const MaxCompletionValues = 100
