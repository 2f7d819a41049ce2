// Needs what it provides.
export default (kit) => ({
  id: 'needs-itself',
  version: '1.0.0',
  api: 1,
  summary: 'Needs what it provides.',
  needs: { self: kit.defineToken('self@1') },
  provides: [kit.defineToken('self@1')],
  register() {},
})
