import type { SystemSection } from '../../../../plugins/execution/models/contract.js'
import test from 'ava'
import { systemPrompt } from '../../../../plugins/execution/engine/system-prompt.js'
import { unsafeCast } from '../../../../core/base/schema.js'

const run = unsafeCast<Parameters<SystemSection['text']>[0]>({ run_id: 'r1', session_id: 's1' })
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const promptOf = (...sections: SystemSection[]): string =>
  systemPrompt({ config: { system_prompt: 'Base.' }, sections: () => sections, log: quiet }, run)

test('sections stand behind the system prompt by rank, and blank ones are left out', (t) => {
  t.is(promptOf(), 'Base.')
  t.is(
    promptOf(
      { id: 'late', rank: 2, text: ({ session_id }) => `of ${session_id}` },
      { id: 'blank', rank: 1, text: () => ' ' },
      { id: 'none', rank: 1, text: () => undefined },
      { id: 'early', rank: 1, text: () => ' first ' },
    ),
    'Base.\n\n<early>\nfirst\n</early>\n\n<late>\nof s1\n</late>',
  )
})

test('a section that throws is left out', (t) => {
  t.is(
    promptOf(
      {
        id: 'bad',
        rank: 1,
        text: () => {
          throw new Error('no')
        },
      },
      { id: 'good', rank: 2, text: () => 'x' },
    ),
    'Base.\n\n<good>\nx\n</good>',
  )
})
