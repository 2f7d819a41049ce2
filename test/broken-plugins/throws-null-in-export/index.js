// What its function throws is no error.
export default () => {
  throw null
}
