// Needs what nobody provides.
export default (kit) => ({
  id: 'missing-need',
  version: '1.0.0',
  api: 1,
  summary: 'Needs what nobody provides.',
  needs: { nobody: kit.defineToken('nobody@1') },
  register() {},
})
