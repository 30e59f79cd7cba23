"""The settings of one root: `config.toml`, read and checked. Reading never needs tomlkit."""
