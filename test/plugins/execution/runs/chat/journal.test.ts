/** The journal of a session as a conversation reads it, whatever else stands in it. */
import test from 'ava'
import type { Client, Json } from '../../../../../core/plugin.js'
import { createJournal } from '../../../../../plugins/execution/runs/chat/journal.js'

const clientOf = (pages: readonly (readonly Json[])[]): Client => {
  let at = 0
  return {
    baseUrl: '',
    get: async () => ({ session: { journal: pages[at++] ?? [] } }),
    options: async () => ({}),
    bytes: async () => new Uint8Array(),
    send: async () => null,
    stream: async () => (async function* () {})(),
  }
}
const row = (seq: number, type: string, entry: Json): Json => ({ seq, run_id: 'run_1', type, entry })

test('command-line-38: an attempt that failed, or a ruling of a hook, hides no other entry', async (t) => {
  const call = { type: 'tool_call', id: 'c1', name: 'bash', input: { command: 'echo one' } }
  const client = clientOf([
    [
      row(1, 'attempt', { attempt: 1, code: 'model_network', message: 'No answer.' }),
      row(2, 'message', { message: { role: 'assistant', content: [call] } }),
    ],
    [row(3, 'intercepted', { event: 'pre_tool_use', by: ['a'] })],
    [row(4, 'outcome', { tool_call_id: 'c1', tool_name: 'bash', state: 'done', output: {} })],
  ])
  const rows = await createJournal(client, 's1', undefined).news('run_1')
  t.deepEqual(
    rows.map(({ seq }) => seq),
    [2, 4],
  )
  t.deepEqual(rows[0]?.entry.message?.content[0]?.input, { command: 'echo one' })
})
