// Its texts have halves of characters and break lines.
const half = '\ud800'

export default ({ definePoint, json }) => ({
  id: 'says-odd-texts',
  version: '1.0.0',
  api: 1,
  summary: `Half ${half}\nx is of it`,
  register(ctx) {
    for (const point of ['status-sections@1', 'runtime-sections@1'])
      ctx.contribute(
        definePoint(point),
        { name: 'its_half', schema: json(), collect: () => ({ [`name${half}`]: ['\udc00', { in: half }] }) },
        {
          name: 'its_thrown',
          schema: json(),
          collect: () => {
            throw new Error(`thrown ${half}`)
          },
        },
      )
    ctx.contribute(definePoint('capabilities@1'), { name: 'its_claim', value: half })
    ctx.contribute(definePoint('metrics@1'), {
      name: 'service_its_halves',
      help: 'Its halves.',
      type: 'gauge',
      collect: () => [{ labels: { of: half }, value: 1 }],
    })
    ctx.contribute(definePoint('metrics@1'), {
      name: 'service_its_twins',
      help: 'They differ in their halves.',
      type: 'gauge',
      collect: () => [half, '\ud801'].map((of) => ({ labels: { of }, value: 1 })),
    })
    const warning = {
      severity: 'error',
      code: 'odd',
      message: `m${half}\nx is of it`,
      action: `rm${half}\n-rf is of it`,
    }
    ctx.health({ id: 'halves', check: () => [warning] })
    ctx.health({ id: 'codes', check: () => [{ ...warning, code: 'co\nde' }] })
  },
})
