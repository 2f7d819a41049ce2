// What it is asked it answers as the test says, which runs in the same process; nothing where it says nothing.
const said = (point, ...given) => globalThis.answersAsTold?.[point]?.(...given)

export default (kit) => ({
  id: 'answers-as-told',
  version: '1.0.0',
  api: 1,
  summary: 'What it is asked it answers as a test says.',
  register(ctx) {
    const add = (point, members, named = { id: 'told' }) =>
      ctx.contribute(kit.definePoint(point), {
        ...named,
        ...Object.fromEntries(members.map((name) => [name, (...given) => said(`${name} of ${point}`, ...given)])),
      })
    add('usage-limits@1', ['refusal'])
    add('session-modes@1', ['mode', 'rules'])
    add('session-holds@1', ['holds'])
    add('session-end-guards@1', ['veto', 'ended'])
    add('call-grants@1', ['find'])
    add('skill-guards@1', ['ruling', 'missing'])
    add('reasons@1', ['of'])
    add('subjects@1', ['find'])
    add('secret-references@1', ['of'])
    add('tool-gates@1', ['hidden'])
    add('channel-parts@1', ['metrics', 'veto'])
    add('session-metadata@1', ['value'], { key: 'told' })
    add('hook-callbacks@1', ['call'], { name: 'told' })
    add('runtime-sections@1', ['collect'], { name: 'told', schema: kit.json() })
    ctx.contribute(kit.definePoint('asset-references@1'), {
      domain: 'told',
      namings: [
        {
          count: (...given) => said('count of asset-references@1', ...given) ?? 0,
          list: (...given) => said('list of asset-references@1', ...given) ?? [],
        },
      ],
    })
    ctx.contribute(kit.definePoint('interceptors@1'), {
      id: 'told',
      rank: 1,
      wants: (event) => globalThis.answersAsTold?.[event] !== undefined,
      intercept: ({ event }) => said(event),
    })
  },
})
