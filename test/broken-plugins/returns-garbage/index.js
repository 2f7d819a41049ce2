// What it is asked it answers wrongly, each thing in a session of its own. What it throws tells of nobody.
const bare = () => {
  throw null
}
const hang = () => new Promise(() => {})

const gates = {
  'gate-list': () => [null],
  'gate-object': () => ({}),
  'gate-promise': async () => bare(),
  'gate-bare': bare,
  'gate-function': () => bare,
  'gate-late': () => async () => true,
}
const sections = {
  'section-number': () => 5,
  'section-object': () => ({}),
  'section-promise': async () => bare(),
  'section-bare': bare,
}
const scopes = { 'scopes-object': () => ({}), 'scopes-list': () => [null], 'scopes-bare': bare }
const learnings = { 'learnings-object': () => ({}), 'learnings-list': () => [null], 'learnings-bare': bare }
const rulings = { 'ruling-number': () => 5, 'ruling-bare': bare, 'ruling-rejected': async () => bare() }

export default (kit) => ({
  id: 'returns-garbage',
  version: '1.0.0',
  api: 1,
  summary: 'What it is asked it answers wrongly.',
  register(ctx) {
    const point = (name) => kit.definePoint(name)
    ctx.contribute(point('tool-gates@1'), { id: 'garbage', hidden: (session) => gates[session]?.() })
    ctx.contribute(point('system-sections@1'), {
      id: 'garbage',
      rank: 5,
      text: ({ session_id }) => sections[session_id]?.(),
    })
    ctx.contribute(point('memory-sources@1'), {
      id: 'garbage',
      scopes: (session) => scopes[session]?.(),
      learnings: ([{ id }]) => learnings[id]?.() ?? [],
    })
    ctx.contribute(point('interceptors@1'), {
      id: 'garbage',
      rank: 5,
      wants: (event) =>
        event === 'session_end' ? bare() : event === 'user_prompt_submit' || event === 'session_start',
      intercept: ({ event, session_id }) => {
        if (event === 'session_start') return session_id === 'told' ? hang() : undefined
        return session_id.startsWith('hang') ? hang() : rulings[session_id]?.()
      },
    })
  },
})
