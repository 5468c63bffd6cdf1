"""The process that watches a sandbox: what it is asked, how it takes both channels, what it says in the end."""
