// Its package.json cannot be read.
export default {}
