import type { SystemSection } from '../../../../../plugins/execution/models/contract.js'
import test from 'ava'
import { systemPrompt } from '../../../../../plugins/execution/engine/prompt/system-prompt.js'
import type { PromptSettings } from '../../../../../plugins/execution/runs/contract.js'
import { unsafeCast } from '../../../../../core/base/schema.js'

const run = unsafeCast<Parameters<SystemSection['text']>[0]>({ run_id: 'r1', session_id: 's1' })
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const promptWith = (prompt: PromptSettings, ...sections: SystemSection[]): string =>
  systemPrompt({ config: { system_prompt: 'Base.' }, prompt: () => prompt, sections: () => sections, log: quiet }, run)
const promptOf = (...sections: SystemSection[]): string => promptWith({}, ...sections)

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

test('runtime-32: what operators set stands in place of the configured prompt, before and behind the sections', (t) => {
  const persona: SystemSection = { id: 'persona', rank: 1, character: true, text: () => 'me' }
  const modes: SystemSection = { id: 'modes', rank: 2, text: () => 'plan' }
  const told = (prompt: PromptSettings): string => promptWith(prompt, persona, modes).replaceAll('\n', ' ')
  const [me, plan] = ['<persona> me </persona>', '<modes> plan </modes>']
  t.is(told({ custom_prompt: 'Own.' }), `Own.  ${me}  ${plan}`)
  t.is(told({ custom_prompt: 'Own.', override_prompt: 'Only.' }), `Only.  ${plan}`)
  t.is(
    told({ append_prompt: 'Last.', language: 'Dutch', output_style: 'terse' }),
    `Base.  Answer in this language: Dutch  Answer in this style: terse  ${me}  ${plan}  Last.`,
  )
})

test('a section is told as it is now, also behind one that says the same as before', (t) => {
  let now = 'one'
  const sections: SystemSection[] = [
    { id: 'still', rank: 1, text: () => 'the same' },
    { id: 'moving', rank: 2, text: () => now },
  ]
  const told = (): string =>
    systemPrompt({ config: { system_prompt: 'Base.' }, prompt: () => ({}), sections: () => sections, log: quiet }, run)
  const wanted = (text: string): string => `Base.\n\n<still>\nthe same\n</still>\n\n<moving>\n${text}\n</moving>`
  for (const text of ['one', 'one', 'two', 'one']) {
    now = text
    t.is(told(), wanted(text))
  }
})
