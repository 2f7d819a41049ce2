import { defineCommand, type Command } from '../../../core/plugin.js'

const base = '/v1/runtime/auth'

interface Form {
  readonly word: string
  readonly arg: 'subject_id' | 'lease_id'
  readonly summary: string
  readonly revokes?: true
}

const forms: readonly Form[] = [
  { word: 'subject', arg: 'subject_id', summary: 'Who has leases, and which are active.' },
  { word: 'revoke-subject', arg: 'subject_id', summary: 'Ends all leases of a subject.', revokes: true },
  { word: 'lease', arg: 'lease_id', summary: 'A lease: whose it is, what for and until when.' },
  { word: 'revoke-lease', arg: 'lease_id', summary: 'Ends a lease.', revokes: true },
]

export const commands: readonly Command[] = forms.map(({ word, arg, summary, revokes }) => {
  const list = arg === 'subject_id' ? 'subjects' : 'leases'
  const [method, end] = revokes === true ? (['POST', '/revoke'] as const) : (['GET', ''] as const)
  return defineCommand({
    path: ['runtime', 'auth', word],
    route: `${method} ${base}/${list}/{${arg}}${end}`,
    summary,
    args: [arg],
    run: ({ client, args }) => {
      const path = `${base}/${list}/${encodeURIComponent(args[arg] ?? '')}${end}`
      return method === 'GET' ? client.get(path) : client.send('POST', path)
    },
  })
})
