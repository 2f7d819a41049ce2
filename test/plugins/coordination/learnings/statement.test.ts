import test from 'ava'
import { statementOf } from '../../../../plugins/coordination/learnings/statement.js'
import type { Learning } from '../../../../plugins/coordination/learnings/contract.js'

const of = (content: string, kind: Learning['kind'] = 'fact') => statementOf({ kind, content })

const split: readonly (readonly [content: string, subject: string, value: string])[] = [
  ['The deploy window is Friday.', 'deploy window', 'friday'],
  ['  THE   Deploy-Window\nis  friday ;', 'deploy window', 'friday'],
  ['Release notes are in docs/.', 'release notes', 'in docs/'],
  ['La base est Postgres.', 'base', 'postgres'],
  ['Le café du coin est fermé', 'café du coin', 'fermé'],
  ['Les tests sont lents, parfois.', 'tests', 'lents parfois'],
  ["L'équipe est à Lyon", "l'équipe", 'à lyon'],
  ['port = 8080', 'port', '8080'],
  ['retries=30', 'retries', '30'],
  ['Editor: Emacs', 'editor', 'emacs'],
  ['url: http://a.example/?b=c', 'url', 'http://a.example/?b=c'],
  ['It is true: the editor is vi', 'it is true', 'the editor is vi'],
  ['The team is who we are', 'team', 'who we are'],
  ['"Editor" is «Emacs»', 'editor', 'emacs'],
  ['The offset is -50', 'offset', '-50'],
  ['The best language is C++11', 'best language', 'c++11'],
  ['Speed is 1.5', 'speed', '1.5'],
]
for (const [content, subject, value] of split)
  test(`learnings-14: a subject and a value: ${JSON.stringify(content)}`, (t) =>
    t.deepEqual(of(content), { subject, key: `${subject}=${value}` }))

const whole: readonly (readonly [content: string, key: string])[] = [
  ['Rain falls', 'rain falls'],
  ['It is late', 'it is late'],
  ['Il est tard', 'il est tard'],
  ['Cela est faux', 'cela est faux'],
  ['The is a word', 'the is a word'],
  ['Ab is short', 'ab is short'],
  ['The grade is A', 'the grade is a'],
  ['The best language is C#', 'the best language is c#'],
  ['Editor:', 'editor'],
  ['...', ''],
]
for (const [content, key] of whole)
  test(`learnings-14: no subject can be told: ${JSON.stringify(content)}`, (t) => t.deepEqual(of(content), { key }))

test('learnings-14: procedures and summaries have no subject', (t) => {
  for (const kind of ['procedure', 'run_summary'] as const)
    t.deepEqual(of('The deploy window is Friday.', kind), { key: 'the deploy window is friday' })
  for (const kind of ['preference', 'decision'] as const) t.is(of('Editor: vim', kind).subject, 'editor')
})

test('learnings-14: signs that mean something tell two apart, those of sentences do not', (t) => {
  const keys = ['C++', 'C#', 'C', '-5', '5', '.env', 'env'].map((value) => of(`The choice is ${value} now`).key)
  t.is(new Set(keys).size, keys.length)
  const same = [
    'Code review is required',
    'code-review is required!',
    'The code review  is "required".',
    'CODE_REVIEW: Required',
  ]
  t.deepEqual(new Set(same.map((content) => of(content).key)), new Set(['code review=required']))
})
