package host_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"cloudg.dev/cloudg/registry/catalog/host"
)

func TestCommandLine(t *testing.T) {
	tests := []struct {
		name string
		in   []string
		want string
	}{
		{"plain", []string{"ls", "-l", "/tmp"}, "ls -l /tmp"},
		{"quoted", []string{"echo", "", "a b", "c\nd", `say "hi"`}, `echo "" "a b" "c\nd" "say \"hi\""`},
		{"not UTF-8", []string{"cat", "caf\xe9"}, "cat caf\uFFFD"},
		{"title", []string{"postgres: writer   "}, "postgres: writer"},
		{"title with controls", []string{"a\x1b[31mb\nc"}, "a [31mb c"},
		{"title with NULs behind", []string{"sshd: alice", "", "", ""}, "sshd: alice"},

		{"long flag", []string{"x", "--password=abc"}, "x --password=[redacted]"},
		{"flag and value", []string{"x", "--api-token", "abc", "run"}, "x --api-token [redacted] run"},
		{"one dash", []string{"x", "-secret", "-abc", "run"}, "x -secret [redacted] run"},
		{"letter case", []string{"x", "--Client_SECRET", "abc"}, "x --Client_SECRET [redacted]"},
		{"no value", []string{"x", "--ask-password", "--verbose", "y"}, "x --ask-password --verbose y"},
		{"two flags", []string{"x", "-key", "-password", "abc"}, "x -key [redacted] [redacted]"},
		{"flag at the end", []string{"x", "--token"}, "x --token"},
		{"variable", []string{"env", "AWS_SECRET_ACCESS_KEY=a/b+c=", "run"}, "env AWS_SECRET_ACCESS_KEY=[redacted] run"},
		{"short words", []string{"x", "--pass", "a", "--db-pass=b", "pass:c", "--pwd", "d", "MYSQL_PWD=e", "--passive", "f", "--bypass=g", "--compass", "h"},
			"x --pass [redacted] --db-pass=[redacted] pass:[redacted] --pwd [redacted] MYSQL_PWD=[redacted] --passive f --bypass=g --compass h"},
		{"value with blanks", []string{"x", "--password=a b c"}, "x --password=[redacted]"},
		{"value with quotes", []string{"x", `--password="a`, `b"`}, "x --password=[redacted] \"b\\\"\""},
		{"nested setting", []string{"helm", "--set=db.password=abc,x=1"}, "helm --set=db.password=[redacted]"},
		{"java", []string{"java", "-Dapp.apiKey=abc", "Main"}, "java -Dapp.apiKey=[redacted] Main"},
		{"program name", []string{"/usr/bin/ssh-keygen", "-t", "rsa"}, "/usr/bin/ssh-keygen -t rsa"},

		{"shell", []string{"sh", "-c", "PGUSER=x PGPASSWORD='a b' psql -h db"}, `sh -c "PGUSER=x PGPASSWORD=[redacted] psql -h db"`},
		{"shell flag", []string{"sh", "-c", "curl --token abc --secret 'd e' url"}, `sh -c "curl --token [redacted] --secret [redacted] url"`},
		{"shell flag after flag", []string{"sh", "-c", "x --key --password abc -token -secret def"}, `sh -c "x --key --password [redacted] -token -secret [redacted]"`},
		{"JSON", []string{"x", `{"user":"u","password": "a\"b","n":1}`}, `x "{\"user\":\"u\",\"password\": [redacted],\"n\":1}"`},
		{"escaped JSON", []string{"x", `"{\"token\":\"a b\"}"`}, `x "\"{\\\"token\\\":[redacted]"`},
		{"header", []string{"curl", "-H", "Authorization: Bearer abc", "url"}, `curl -H "Authorization: [redacted]" url`},
		{"digest", []string{"curl", "-H", `Authorization: Digest username="u", response="abc"`}, `curl -H "Authorization: [redacted]"`},
		{"header in a shell", []string{"sh", "-c", `curl -H 'X-Api-Key: a "b" c' url`}, `sh -c "curl -H 'X-Api-Key: [redacted]' url"`},
		{"variable in a shell", []string{"sh", "-c", `env "TOKEN=a b" run`}, `sh -c "env \"TOKEN=[redacted]\" run"`},
		{"quoted flag", []string{"sh", "-c", `x '--password' 'a b' y`}, `sh -c "x '--password' [redacted] y"`},
		{"query", []string{"curl", "http://h/p?a=1&token=abc&b=2"}, "curl http://h/p?a=1&token=[redacted]"},
		{"data source", []string{"x", "host=db password=abc user=u"}, `x "host=db password=[redacted] user=u"`},
		{"title with a secret", []string{"worker token=abc idle"}, "worker token=[redacted] idle"},
		{"URL", []string{"x", "postgres://u:a:b@db/x", "redis://:abc@r"}, "x postgres://u:[redacted]@db/x redis://:[redacted]@r"},
		{"URL with a token", []string{"git", "clone", "HTTPS://ghp_abc@h/x.git"}, "git clone HTTPS://[redacted]@h/x.git"},
		{"URL of a user", []string{"git", "clone", "ssh://git@h/x.git", "http://h:80/@x"}, "git clone ssh://git@h/x.git http://h:80/@x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, truncated := host.RenderCommandLine([]byte(strings.Join(tt.in, "\x00") + "\x00"))
			if got != tt.want || truncated {
				t.Errorf("got  %s (truncated %v)\nwant %s", got, truncated, tt.want)
			}
		})
	}
}

func TestCommandLineTruncated(t *testing.T) {
	got, truncated := host.RenderCommandLine([]byte("x\x00" + strings.Repeat("é", 4000)))
	if !truncated || len(got) > 4096 || len(got) < 4093 || !utf8.ValidString(got) {
		t.Errorf("got %d bytes, truncated %v, valid %v; want about 4096 whole characters", len(got), truncated, utf8.ValidString(got))
	}
}
