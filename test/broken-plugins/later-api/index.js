// Its package.json asks for a later version of the plugin contract, so this line must never run.
globalThis.laterApiRan = true
export default {}
