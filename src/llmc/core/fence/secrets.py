"""Where keys, logins and histories usually are, and which variables name such places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

IN_HOME = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".oci", ".boto", ".s3cfg", ".password-store"),
    *(
        ".netrc",
        ".git-credentials",
        ".npmrc",
        ".pypirc",
        ".yarnrc",
        ".yarnrc.yml",
        ".pgpass",
        ".my.cnf",
        ".vault-token",
    ),
    *(".terraform.d", ".terraformrc", ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2"),
    *(".gradle/gradle.properties", ".composer/auth.json", ".subversion/auth", ".config/subversion/auth", ".sops"),
    *(
        ".config/gh",
        ".config/hub",
        ".config/glab-cli",
        ".config/gcloud",
        ".config/doctl",
        ".config/rclone",
        ".config/op",
    ),
    *(
        ".config/git/credentials",
        ".config/containers",
        ".config/sops",
        ".config/age",
        ".config/heroku",
        ".config/configstore",
    ),
    *(".local/share/keyrings", ".local/share/kwalletd", ".local/share/containers", ".mozilla", ".thunderbird"),
    *(".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/Code", ".config/Cursor"),
    *(".claude", ".claude.json", ".codex", ".gemini", ".qwen", ".copilot", ".kimi-code", ".kimi", ".pi", ".cline"),
    *(".config/opencode", ".local/share/opencode", ".local/state/opencode", ".config/kilo", ".local/share/kilo"),
    *(".config/github-copilot", ".config/anthropic", ".config/openai", ".aider.conf.yml", ".config/goose"),
    *(".bash_history", ".zsh_history", ".zhistory", ".python_history", ".node_repl_history", ".psql_history"),
    *(
        ".mysql_history",
        ".sqlite_history",
        ".lesshst",
        ".viminfo",
        ".local/share/fish",
        ".history",
        ".rediscli_history",
    ),
    *(".env", ".envrc", ".Xauthority", ".ICEauthority", ".dbus", ".pki", ".config/llmc", ".local/state/llmc"),
)
"""Below the person's home."""
IN_SYSTEM = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh"),
    *("/etc/ssl/private", "/etc/pki/tls/private", "/etc/krb5.keytab", "/etc/kubernetes", "/etc/rancher", "/etc/docker"),
    *("/etc/wireguard", "/etc/openvpn", "/etc/NetworkManager", "/etc/letsencrypt", "/etc/machine-id"),
)
_VARIABLES = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "COPILOT_HOME", "KIMI_HOME", "CLINE_DIR"),
    *("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "KILO_CONFIG", "GNUPGHOME", "AWS_SHARED_CREDENTIALS_FILE"),
    *("AWS_CONFIG_FILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AZURE_CONFIG_DIR", "CLOUDSDK_CONFIG", "DOCKER_CONFIG"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "GH_CONFIG_DIR", "GLAB_CONFIG_DIR", "NETRC", "NPM_CONFIG_USERCONFIG"),
    *("PGPASSFILE", "PASSWORD_STORE_DIR", "SSH_AUTH_SOCK", "XAUTHORITY", "ICEAUTHORITY", "HISTFILE", "KRB5CCNAME"),
    *("VAULT_TOKEN_PATH", "RCLONE_CONFIG", "SOPS_AGE_KEY_FILE", "TMUX_TMPDIR", "XDG_RUNTIME_DIR", "REGISTRY_AUTH_FILE"),
)
"""Each names a place of keys, or several with colons between them."""
_LISTS = ("KUBECONFIG",)
_IN_CONFIG = tuple(name.removeprefix(".config/") for name in IN_HOME if name.startswith(".config/"))
_IN_DATA = tuple(name.removeprefix(".local/share/") for name in IN_HOME if name.startswith(".local/share/"))


def secret_places(home: str, environ: Mapping[str, str]) -> Iterator[str]:
    """Absolute paths, whether or not there is anything."""
    yield from IN_SYSTEM
    if home.startswith("/"):
        yield from (f"{home.rstrip('/')}/{name}" for name in IN_HOME)
    for variable, names in (("XDG_CONFIG_HOME", _IN_CONFIG), ("XDG_DATA_HOME", _IN_DATA)):
        yield from (f"{environ[variable]}/{name}" for name in names if environ.get(variable, "").startswith("/"))
    named = [environ.get(name, "").removeprefix("FILE:") for name in _VARIABLES]
    named += [path for name in _LISTS for path in environ.get(name, "").split(":")]
    yield from (path for path in named if path.startswith("/") and path.strip("/"))
