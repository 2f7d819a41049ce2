// Finds the same fault after its fix.
export default () => ({
  id: 'restless-repair',
  version: '1.0.0',
  api: 1,
  summary: 'Finds the same fault after its fix.',
  register(ctx) {
    ctx.repair({ id: 'restless', check: () => ['a fault'], fix: () => Promise.resolve() })
  },
})
