/** A persona that cannot be read hides no other one. */
import test from 'ava'
import { createCollection } from '../../../../core/state/memory/collection.js'
import { shelf } from '../../../support/shelf.js'
import personas from '../../../../plugins/coordination/personas/plugin.js'

/** What the plugin registers on a state in which one of three personas is damaged. */
const register = () => {
  const ids = ['ann', 'bob', 'cat']
  const collection = (spec: any): any => {
    const made = (persona_id: string) => ({
      persona_id,
      display_name: persona_id,
      soul: '',
      version: 1,
      created_at_ms: 0,
      updated_at_ms: 0,
    })
    const read = (id: string) => {
      if (id === 'bob') throw new Error('the page is damaged')
      return made(id)
    }
    return createCollection(spec, shelf<any>(spec, new Map(ids.map((id) => [id, made(id)])), read))
  }
  const quiet = (): void => {}
  const [routes, checks]: any[][] = [[], []]
  const context: any = {
    state: { collection },
    ids: {},
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    provide: quiet,
    contribute: quiet,
    routes: (...made: any[]) => routes?.push(...made),
    health: (check: any) => checks?.push(check),
  }
  void personas.register(context, {
    sessions: () => undefined,
    skills: () => ({ freeze: () => ({ ok: false, rule: 'must be installed' }) }),
  })
  const list = routes?.find(({ id }) => id === 'personas.list')
  return {
    list: async (query: object): Promise<string[]> =>
      (await list.handler({ query })).map(({ persona_id }: any) => persona_id),
    warnings: () => checks?.flatMap(({ check }) => check()) ?? [],
  }
}

test('a persona that cannot be read is left out of the list and of a search, and told', async (t) => {
  const { list, warnings } = register()
  t.deepEqual(warnings(), [])
  t.deepEqual(await list({}), ['ann', 'cat'])
  t.deepEqual(await list({ query: 'A' }), ['ann', 'cat'])
  t.like(warnings()[0], { code: 'unreadable_records', related_id: 'bob' })
  t.is(warnings().length, 1)
})
