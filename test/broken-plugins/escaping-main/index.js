// Its package.json names a main file outside of its folder.
export default {}
