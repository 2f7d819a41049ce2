// Calls itself otherwise than its folder.
export default {
  id: 'another-name',
  version: '1.0.0',
  api: 1,
  summary: 'Calls itself otherwise than it is listed.',
  register() {},
}
