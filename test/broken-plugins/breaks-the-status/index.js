// What it adds to the status and the runtime is no JSON or no warning.
const circle = {}
circle.inside = circle

const sections = {
  circle: () => circle,
  big: () => ({ count: 10n }),
  late: async () => ({}),
  rejected: async () => Promise.reject(new Error('rejected')),
  json: () => ({
    toJSON() {
      throw new Error('no JSON')
    },
  }),
  list: () => [],
  number: () => 5,
  nothing: () => undefined,
  endless: () => ({ count: Infinity }),
  huge: () => ({ text: 'x'.repeat(300_000) }),
  deep: () => JSON.parse(`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`),
  thrown: () => {
    throw new Error('thrown')
  },
}
const checks = {
  late: async () => [],
  rejected: async () => Promise.reject(new Error('rejected')),
  number: () => 5,
  nothing: () => undefined,
  fatal: () => [{ severity: 'fatal', code: 5 }],
  big: () => [{ severity: 'info', code: 'big', message: 10n }],
  holes: () => [null],
}

export default ({ definePoint, json }) => ({
  id: 'breaks-the-status',
  version: '1.0.0',
  api: 1,
  summary: 'What it adds to the status and the runtime is no JSON or no warning.',
  register(ctx) {
    const all = { ...sections, sound: () => ({ is: 'told', nothing: undefined }) }
    const schema = json()
    for (const point of ['status-sections@1', 'runtime-sections@1'])
      ctx.contribute(
        definePoint(point),
        ...Object.entries(all).map(([name, collect]) => ({ name: `its_${name}`, collect, schema })),
      )
    for (const [id, check] of Object.entries(checks)) ctx.health({ id, check })
    const sound = { severity: 'info', code: 'sound', message: 'It is told.', more: 10n }
    ctx.health({ id: 'sound', check: () => [{ ...sound, more: undefined }] })
  },
})
