"""The prose of each dataset card; numbers and YAML are generated into it."""
