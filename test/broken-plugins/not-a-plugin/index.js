// Exports something else than a plugin.
export default 42
