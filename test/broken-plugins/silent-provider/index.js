// Lists a token and provides nothing.
export default (kit) => ({
  id: 'silent-provider',
  version: '1.0.0',
  api: 1,
  summary: 'Lists a token and provides nothing.',
  provides: [kit.defineToken('silence@1')],
  register() {},
})
