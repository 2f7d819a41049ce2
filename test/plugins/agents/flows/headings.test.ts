/** What counts as a heading of a report. */
import test from 'ava'
import { headings } from '../../../../plugins/agents/flows/headings.js'
import { isLinear } from '../../../support/linear.js'

test('flows-14: headings begin with signs or are underlined, outside of code and comments', (t) => {
  const text = [
    '# One ##',
    '####### seven',
    '#none',
    'Two',
    '---',
    '',
    '---',
    '```',
    '# code <!--',
    '```',
    'a <!-- # no --> b',
    '<!--',
    '# hidden',
    '--> ## after',
    '### C# ',
    '## #',
  ].join('\n')
  t.deepEqual([...headings(text)], ['one', 'two', 'c#'])
})

test('flows-14: a report that is written to be slow to read is read as fast as any', (t) => {
  for (const worst of [
    (n: number) => `# a${' '.repeat(n)}x`,
    (n: number) => `# ${'#'.repeat(n)}x`,
    (n: number) => `#${' '.repeat(n)}`,
    (n: number) => '<!--'.repeat(n),
    (n: number) => '<!-- --> '.repeat(n),
    (n: number) => `${'='.repeat(n)}x`,
  ])
    t.true(isLinear((n) => void headings(worst(n)), 200_000))
})
