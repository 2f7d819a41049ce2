import test from 'ava'
import { listPage, type Page } from '../../../../core/http/routes/pages.js'
import { collectionSource } from '../../../../core/plugin.js'
import { createUnreadable } from '../../../../core/http/routes/unreadable.js'
import { createCollection } from '../../../../core/state/memory/collection.js'
import { shelf } from '../../../support/shelf.js'

type Note = { id: string; text: string }

/** Five records on pages, of which some cannot be read. */
const shelved = (...damaged: string[]) => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const spec = { name: 'notes', version: 1, id: ({ id }: Note) => id, indexes: { all: { group: () => 'all' } } }
  const placed = new Map(ids.map((id) => [id, { id, text: id }]))
  const read = (id: string): Note => {
    if (damaged.includes(id)) throw new Error('the page is damaged')
    return { id, text: id }
  }
  return collectionSource(createCollection<Note>(spec, shelf(spec, placed, read)), 'all', 'all')
}

const quiet = (): void => {}
const named = () => {
  const lines: unknown[] = []
  const log = { debug: quiet, info: quiet, warn: quiet, error: (_: string, more: unknown) => void lines.push(more) }
  return { lines, ...createUnreadable(log, 'notes') }
}
const list = (source: ReturnType<typeof shelved>, query: object, more: object = {}): any =>
  listPage({ query, source, label: 'id_asc', view: ({ text }: Note) => text, ...more })

test('http-15: a record that cannot be read is named once and left out, and pages lose nothing else', (t) => {
  const { skip, lines, health } = named()
  t.throws(() => list(shelved('b'), {}))
  t.deepEqual(health.check(), [])
  t.deepEqual(list(shelved('b'), {}, { skip }), ['a', 'c', 'd', 'e'])
  t.deepEqual(list(shelved('b', 'e'), { limit: 2 }, { skip, legacy: 'last' }), ['c', 'd'])
  const walked: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const page: Page<string> = list(shelved('a', 'b', 'd'), { limit: 1, cursor }, { skip })
    walked.push(...page.items)
    cursor = page.pagination.next_cursor
  }
  t.deepEqual(walked, ['c', 'e'])
  t.deepEqual(lines.map(({ id }: any) => id).toSorted(), ['a', 'b', 'd', 'e'])
  t.like(health.check()[0], { code: 'unreadable_records', related_id: 'b', severity: 'error' })
})

test('what cannot be shown is left out as well, without moving the cursor', (t) => {
  const { skip, lines } = named()
  const view = ({ text }: Note): string => {
    if (text === 'b') throw new Error('its journal is damaged')
    return text
  }
  const page = list(shelved(), { limit: 2, page: true }, { skip, view })
  t.deepEqual([page.items, page.pagination.has_more], [['a'], true])
  t.deepEqual(list(shelved(), { limit: 2, cursor: page.pagination.next_cursor }, { skip, view }).items, ['c', 'd'])
  t.is(lines.length, 1)
})
