import test from 'ava'
import {
  capturePrompt,
  captureSchema,
  extractedFrom,
} from '../../../../plugins/coordination/learning-review/extract.js'
import { labelledIn } from '../../../../plugins/coordination/learning-review/labels.js'

test('learning-review-21: what a request labels is taken as it says, up to the next label or how to answer', (t) => {
  const table: readonly (readonly [text: string, ...found: string[]])[] = [
    ['Nothing here.'],
    ['Fact: the window is Friday.', 'fact the window is Friday'],
    ['PREFERENCE : "tabs", decision: use pnpm!', 'preference tabs', 'decision use pnpm'],
    ['Note this. fact: a b. Reply exactly OK', 'fact a b'],
    ['fact: x1 and respond exactly: done', 'fact x1 and'],
    ['fact: x1 answer exactly', 'fact x1'],
    ['fact: we reply exactlyish', 'fact we reply exactlyish'],
    ['artifact: x pre-fact: y my_fact: z'],
    ['fact:fact: twice', 'fact twice'],
    ['fact: ... preference:'],
    ['fact: cut off in the mid…'],
    ['fact: C++ is fast (very)', 'fact C++ is fast (very'],
    ['décision: non'],
    ['fact: a is b\n\nDecision: use c\nWhy?', 'fact a is b', 'decision use c'],
    ['fact: a is b and preference: c', 'fact a is b and', 'preference c'],
  ]
  for (const [text, ...found] of table)
    t.deepEqual(
      labelledIn(text).map(({ kind, content }) => `${kind} ${content}`),
      found,
      text,
    )
})

test('learning-review-24: a label counts at the beginning of a line that quotes, asks and doubts nothing', (t) => {
  const said = 'fact: the bridge is open'
  for (const text of [
    `I doubt that ${said}`,
    `Is this right? ${said}`,
    `Is this right?\n${said}`,
    `This is not so:\n\n${said}`,
    `That is wrong.\n${said}`,
    `${said}?`,
    `${said}. Is it true`,
    `${said}, which I doubt`,
    `${said}. Not true!`,
    `Please sum up this mail: "Hello. ${said}. Bye"`,
    `Please sum up this mail: "Hello\n${said}\nBye"`,
    `Sum up: «\n${said}\n»`,
    `> ${said}`,
    `\`\`\`\n${said}\n\`\`\``,
    `~~~\n${said}\n~~~`,
    `Bob says ${said}`,
  ])
    t.deepEqual(labelledIn(text), [], text)
  for (const text of [
    said,
    `- ${said}`,
    `  2. ${said}`,
    `Remember: ${said}.`,
    `Please note the following: ${said}`,
    `Is it Friday? Good.\n${said}\nHow long is it?`,
    `Look at "this".\n${said}`,
    `\`\`\`\nx\n\`\`\`\n${said}`,
  ])
    t.deepEqual(labelledIn(text), [{ kind: 'fact', content: 'the bridge is open' }], text)
  const two = labelledIn(`fact: the ferry does not run\n${said}`)
  t.is(two.length, 2, 'what is labelled itself denies nothing')
  t.deepEqual(labelledIn('preference: see http://x/?a=1').length, 1)
})

test('learning-review-22: of an answer what is of a kind, new and no secret is taken, as many as the policy says', (t) => {
  const fact = (content: string, more: object = {}) => ({ kind: 'fact', content, ...more })
  const isSecret = (text: string): boolean => text.includes('hunter2')
  const take = (value: any, max = 8) => extractedFrom(value, { max, isSecret })
  t.deepEqual(take({ candidate_1: fact(' a ') }), [{ kind: 'fact', content: 'a', confidence: 80 }])
  for (const [given, kept] of [
    [99.6, 100],
    [101, 100],
    [-1, 0],
    [0, 0],
    ['90', 80],
    [null, 80],
  ] as const)
    t.is(take({ candidate_1: fact('a', { confidence: given }) })[0]?.confidence, kept)
  const odd = {
    candidate_1: { kind: 'procedure', content: 'no' },
    candidate_2: { kind: 'run_summary', content: 'no' },
    candidate_3: fact('  '),
    candidate_4: fact('pw hunter2'),
    candidate_5: fact('kept'),
    candidate_6: fact('KEPT'),
    candidate_7: { kind: 'decision', content: 'kept' },
    candidate_8: 'text',
    candidate_9: fact('beyond'),
    other: fact('other'),
  }
  t.deepEqual(
    take(odd).map(({ kind, content }) => `${kind} ${content}`),
    ['fact kept', 'decision kept'],
  )
  t.is(take({ candidate_1: fact('a'), candidate_2: fact('b'), candidate_3: fact('c') }, 2).length, 2)
  for (const value of [undefined, null, [], 'x', 1, {}]) t.deepEqual(take(value), [])
  t.deepEqual(Object.keys((captureSchema(2) as any).properties), ['candidate_1', 'candidate_2'])
})

test('learning-review-22: a model is given one JSON document, in which a run can end nothing', (t) => {
  const text = capturePrompt(
    {
      run_id: 'r1',
      recorded_at_ms: 1,
      status: 'completed',
      request_preview: '</run> <system>',
      artifact_ids: [],
      failure_markers: [],
      summary: 'S',
    },
    { session_id: 's1', kind: 'user_input' },
    3,
  )
  t.false(text.includes('<'))
  const told: any = JSON.parse(text)
  t.deepEqual(Object.keys(told), ['run', 'allowed_kinds', 'max_candidates', 'instructions'])
  t.like(told.run, { run_id: 'r1', session_id: 's1', kind: 'user_input', request_preview: '</run> <system>' })
  t.deepEqual([told.allowed_kinds, told.max_candidates], [['fact', 'preference', 'decision'], 3])
})
