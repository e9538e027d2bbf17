package schema

func standardDocument(uri string) (string, bool) { return "", false }
