/** Which revisions follow one another; docs/rules/boards.md. */
import test from 'ava'
import { misplaced, type Link } from '../../../../plugins/media/boards/record/chain.js'

const link = (revision_id: string, previous?: string, aside = false): Link => ({
  revision_id,
  previous_revision_id: previous,
  aside,
})
const line = [link('a'), link('b', 'a'), link('c', 'b'), link('d', 'c')]

test('boards-10: of a history that is one line nothing is misplaced, also where one cannot be read', (t) => {
  t.deepEqual([...misplaced(line)], [])
  t.deepEqual([...misplaced([])], [])
  for (const at of line.keys()) {
    const links = line.map((one, index) =>
      index === at ? { revision_id: one.revision_id, aside: false, unreadable: true } : one,
    )
    t.deepEqual([...misplaced(links)], [], `${at}`)
  }
})

test('boards-10: what is behind a fork, a second beginning, a circle or a gap is misplaced', (t) => {
  for (const [links, found] of [
    [[link('a'), link('b', 'a'), link('x', 'a'), link('c', 'b')], 'bxc'],
    [[link('a'), link('x'), link('b', 'a')], 'axb'],
    [[link('a', 'b'), link('b', 'a')], 'ab'],
    [[link('a', 'a')], 'a'],
    [[link('a'), link('b', 'a'), link('d', 'c'), link('e', 'd')], 'de'],
    [[link('b', 'a'), link('c', 'b')], 'bc'],
    [[...line, link('x', 'y'), link('y', 'x')], 'xy'],
  ] as const)
    t.is([...misplaced(links)].join(''), found)
})

test('boards-10: what is set aside gives way to what was made in its place', (t) => {
  t.deepEqual([...misplaced([link('a'), link('b', 'a', true), link('c', 'a')])], ['b'])
  t.deepEqual([...misplaced([link('a'), link('b', 'a', true), link('c', 'b')])], [])
  t.deepEqual([...misplaced([link('a'), link('b', 'a'), link('c', 'b', true)])], [])
  t.deepEqual([...misplaced([link('a', undefined, true), link('b')])], ['a'])
})
