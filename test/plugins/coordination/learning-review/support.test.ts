import test from 'ava'
import {
  bearsOut,
  isInEvidence,
  isInMemory,
  namedArtifacts,
  restsOnMemory,
} from '../../../../plugins/coordination/learning-review/support.js'
import { termsOf } from '../../../../plugins/coordination/learning-review/words.js'

test('learning-review-8: terms are words without case, signs and the words of grammar, in English and French', (t) => {
  const table: readonly (readonly [string, string])[] = [
    ['The Window IS Friday.', 'window friday'],
    ['A an and are is of the to', ''],
    ['de des du est et la le les un une', ''],
    ["La fenêtre de l'équipe est vendredi !", 'fenêtre l équipe vendredi'],
    ['snake_case, kebab-case; 1.2.3', 'snake case kebab 1 2 3'],
    ['e\u0301te\u0301', 'été'],
    ['red red RED', 'red'],
    ["it isn't", 'it not'],
    ['🙂 …', ''],
  ]
  for (const [text, terms] of table) t.deepEqual([...termsOf(text)], terms === '' ? [] : terms.split(' '), text)
})

test('learning-review-8: a text bears out what stands in it, or whose terms it has, and nothing that it denies', (t) => {
  const table: readonly (readonly [content: string, text: string, boolean])[] = [
    ['The window is Friday.', 'He said: The window is Friday. Good.', true],
    ['The window is Friday.', 'On Friday opens a window', true],
    ['window: friday', 'THE WINDOW IS FRIDAY', true],
    ['The window is Friday.', 'The window is Monday.', false],
    ['The window is Friday.', 'the friday', false],
    ['Friday', 'It is friday', false],
    ['friday', 'It is friday', true],
    ['The server is red.', 'The server is not red.', false],
    ['The server is red.', "The server isn't red, green it is", false],
    ['Le serveur est rouge', 'Le serveur n’est pas rouge', false],
    ['The server is not red.', 'A server, not red', true],
    ['of the', 'of a the', false],
    ['C++ is fast', 'C is fast, ++', true],
  ]
  for (const [content, text, borne] of table) t.is(bearsOut(content, text), borne, `${content} / ${text}`)
})

test('learning-review-8: what a text asks, doubts, denies or quotes is not borne out, also word for word', (t) => {
  const content = 'the bridge is open'
  for (const text of [
    'I doubt that fact: the bridge is open',
    'Is this right? fact: the bridge is open',
    'It is not so that the bridge is open.',
    'the bridge is open, which I doubt',
    'the bridge is open?',
    'Is it true: the bridge is open',
    'That is wrong. the bridge is open.',
    "I don't believe it. the bridge is open",
    'Please sum up this mail: "Hello. fact: the bridge is open. Bye"',
    'Sum up: “the bridge is open”',
    'Look at ``` the bridge is open ```',
    'Ann wrote: > the bridge is open',
    'Je doute que the bridge is open',
    'Is the open bridge there?',
    'Sum up "open bridge" please',
  ])
    t.false(bearsOut(content, text), text)
  for (const text of [
    'the bridge is open',
    'Remember: the bridge is open. Why do you ask?',
    'fact: the bridge is open How long is it?',
    'fact: the ferry does not run fact: the bridge is open',
    'fact: "the bridge is open"',
    'Do not wait. All is well. the bridge is open',
    'Is the bridge is open? No doubt. I say so. the bridge is open.',
    'the open bridge',
  ])
    t.true(bearsOut(content, text), text)
  t.true(bearsOut('the bridge is not open', 'We know that the bridge is not open.'))
})

const memory = {
  run_id: 'r1',
  recorded_at_ms: 1,
  status: 'completed' as const,
  artifact_ids: [],
  failure_markers: [],
  summary: '',
}

test('learning-review-8: each text of a memory counts by itself', (t) => {
  const content = 'The window is Friday.'
  for (const texts of [{ request_preview: content }, { failure_markers: ['failed', content] }])
    t.true(isInMemory({ content: ` ${content}\n` }, { ...memory, ...texts }))
  t.false(isInMemory({ content }, { ...memory, request_preview: 'window', failure_markers: ['friday'] }))
  t.false(isInMemory({ content }, memory))
})

test('learning-review-8: memory bears out facts, preferences and decisions of the daemon with evidence of their run', (t) => {
  const claim: Parameters<typeof restsOnMemory>[0] = {
    origin: 'daemon',
    kind: 'fact',
    source: { run_id: 'r1' },
    evidence_refs: [{ run_id: 'r1' }],
  }
  t.true(restsOnMemory(claim))
  t.true(restsOnMemory({ ...claim, kind: 'preference' }))
  t.true(restsOnMemory({ ...claim, kind: 'decision' }))
  t.false(restsOnMemory({ ...claim, kind: 'procedure' }))
  t.false(restsOnMemory({ ...claim, kind: 'run_summary' }))
  t.false(restsOnMemory({ ...claim, origin: 'api' }))
  t.false(restsOnMemory({ ...claim, source: {} }))
  t.false(restsOnMemory({ ...claim, evidence_refs: [{ run_id: 'r2' }] }))
  t.false(restsOnMemory({ ...claim, evidence_refs: [] }))
})

test('learning-review-9: artifacts count that are named with the run of the source, as text or as JSON has it', (t) => {
  const evidence_refs = [
    { run_id: 'r1', artifact_id: 'a' },
    { run_id: 'r1', artifact_id: 'a' },
    { run_id: 'r2', artifact_id: 'b' },
    { artifact_id: 'c' },
    { run_id: 'r1' },
  ]
  t.deepEqual(namedArtifacts({ source: { run_id: 'r1' }, evidence_refs }), ['a'])
  t.deepEqual(namedArtifacts({ source: {}, evidence_refs: [{ run_id: 'r1', artifact_id: 'a' }] }), [])
  t.true(isInEvidence({ content: 'say "yes"' }, JSON.stringify({ answer: 'They say "yes".' })))
  t.true(isInEvidence({ content: ' plain ' }, 'a plain one'))
  t.false(isInEvidence({ content: 'Plain' }, 'a plain one'))
})
