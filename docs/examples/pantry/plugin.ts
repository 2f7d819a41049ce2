/**
 * Everything a plugin can be, in one small house: what is in the pantry, who
 * took it, and who delivers more. The guide explains it part by part.
 */
import type { Client, Command, JsonObject, Kit, Point, Token } from '../../../core/plugin.js'

// part: shapes
export type Item = { readonly name: string; readonly shelf: string; readonly amount: number }
export type Movement = { readonly name: string; readonly change: number; readonly by: string; readonly at: number }
// end

// part: contract
/** Delivers an item when the pantry runs low. `order` must not throw and may be called twice for the same need. */
export interface Supplier {
  /** Unique among the suppliers. */
  readonly name: string
  /** Pieces that it can deliver of an item now; 0 if it has none. */
  readonly order: (item: string) => number
}
/** Suppliers by name. Owned here; any plugin may contribute. */
export const Suppliers: Point<Supplier> = { point: 'pantry-suppliers@1', key: ({ name }) => name }

/** What other plugins may ask of the pantry. */
export interface Pantry {
  find(name: string): Item | undefined
  /** Takes pieces away. Rejects with `pantry_short` (409) or `item_not_found` (404). */
  take(name: string, amount: number, by: string): Promise<Item>
}
export const Pantry: Token<Pantry> = { token: 'pantry@1' }
// end

// part: client
const list: Command = {
  path: ['pantry', 'list'],
  summary: 'What is in the pantry.',
  run: ({ client }: { client: Client }) => client.get('/v1/pantry'),
}
// end

export default (kit: Kit) => {
  const {
    array,
    collectionSource,
    defaulted,
    defineErrors,
    defineEvent,
    definePlugin,
    defineRoute,
    doc,
    integer,
    jsonReply,
    listPage,
    named,
    object,
    pageFields,
    pageOf,
    pageProblems,
    Problem,
    string,
  } = kit

  // part: structs
  const Name = string({ min: 1, max: 100 })
  const Item = named('PantryItem', object({ name: Name, shelf: Name, amount: doc(integer({ min: 0 }), 'Pieces.') }))
  const TakeInput = object({ amount: defaulted(doc(integer({ min: 1, max: 1000 }), 'Pieces to take.'), 1), by: Name })
  // end

  // part: errors
  const errors = defineErrors({
    item_not_found: {
      status: 404,
      domain: 'pantry',
      detail: 'There is no {name} in the pantry.',
      action: 'See GET /v1/pantry for what there is.',
    },
    pantry_short: {
      status: 409,
      domain: 'pantry',
      detail: 'There are only {amount} pieces of {name}.',
      action: 'Take less, or wait for a delivery.',
    },
  })
  // end

  // part: event
  const PantryChanged = defineEvent({
    name: 'pantry_changed',
    summary: 'The amount of an item changed.',
    data: object({ item: Item }),
  })
  // end

  return definePlugin({
    // part: declaration
    id: 'pantry',
    version: '1.2.0',
    api: 1,
    summary: 'What is in the pantry, and who took it.',
    provides: [Pantry],
    config: object({
      low: doc(defaulted(integer({ min: 0, max: 1000 }), 2), 'Pieces from which on an item is low.'),
      look_every_ms: doc(defaulted(integer({ min: 1000 }), 60_000), 'Time between looks at what is low, milliseconds.'),
    }),
    flags: { low: 'pantry-low' },
    commands: [list],
    // end
    register(ctx) {
      // part: state
      const items = ctx.state.collection<Item>({
        name: 'pantry_items',
        version: 1,
        id: ({ name }) => name,
        schema: Item,
        indexes: {
          all: { group: () => 'all' },
          shelf: { group: ({ shelf }) => shelf },
          low: { group: ({ amount }) => (amount <= ctx.config.low ? 'low' : undefined) },
        },
      })
      const movements = ctx.state.stream<Movement>({ name: 'pantry_movements', version: 1 })
      // end

      // part: commit
      /** One commit: the check, the record, the entry and the event belong together. */
      const change = (name: string, by: string, amountOf: (item: Item) => number): Promise<Item> =>
        ctx.state.commit((tx) => {
          const before = items.find(name)
          if (before === undefined) throw errors.item_not_found({ details: { name } })
          const item = { ...before, amount: amountOf(before) }
          tx.put(items, item)
          tx.append(movements, name, { name, change: item.amount - before.amount, by, at: tx.now })
          tx.emit(PantryChanged, { item: name }, () => ({ item }))
          return item
        })
      const take = (name: string, amount: number, by: string): Promise<Item> =>
        change(name, by, (item) => {
          if (item.amount < amount) throw errors.pantry_short({ details: { name, amount: item.amount } })
          return item.amount - amount
        })
      // end

      // part: provide
      ctx.provide(Pantry, { find: (name) => items.find(name), take })
      // end

      // part: routes
      ctx.routes(
        defineRoute({
          id: 'pantry.list',
          method: 'GET',
          path: '/v1/pantry',
          summary: 'Lists what is in the pantry, by name.',
          access: 'read',
          query: object(pageFields),
          reply: jsonReply(pageOf(Item)),
          problems: [...pageProblems],
          handler: ({ query }) =>
            listPage({ query, source: collectionSource(items, 'all', 'all'), label: 'name_asc', view: (item) => item }),
        }),
        defineRoute({
          id: 'pantry.put',
          method: 'PUT',
          path: '/v1/pantry/:name',
          summary: 'Puts an item onto a shelf.',
          access: 'admin',
          params: object({ name: Name }),
          body: object({ shelf: Name, amount: integer({ min: 0 }) }),
          reply: jsonReply(Item),
          durability: 'A',
          handler: ({ params: { name }, body }) =>
            ctx.state.commit((tx) => {
              const item = { name, ...body }
              tx.put(items, item)
              return item
            }),
        }),
        defineRoute({
          id: 'pantry.take',
          method: 'POST',
          path: '/v1/pantry/:name/take',
          summary: 'Takes pieces of an item.',
          access: 'admin',
          params: object({ name: Name }),
          body: TakeInput,
          reply: jsonReply(Item),
          durability: 'A',
          problems: [errors.item_not_found, errors.pantry_short],
          example: { body: { amount: 2, by: 'cook' } },
          handler: ({ params: { name }, body: { amount, by } }) => take(name, amount, by),
        }),
        defineRoute({
          id: 'pantry.movements',
          method: 'GET',
          path: '/v1/pantry/:name/movements',
          summary: 'Who took and brought an item, oldest first.',
          access: 'read',
          params: object({ name: Name }),
          reply: jsonReply(array(object({ change: integer(), by: Name }))),
          handler: ({ params: { name } }) =>
            movements
              .read(name, { after: 0, limit: 1000 })
              .map(({ entry }) => ({ change: entry.change, by: entry.by })),
        }),
      )
      // end

      // part: point
      const suppliers = ctx.view(Suppliers)
      const restock = async (): Promise<void> => {
        for (const name of items.ids('low', 'low')) {
          const supplier = suppliers().find(({ order }) => order(name) > 0)
          if (supplier !== undefined) await change(name, supplier.name, (item) => item.amount + supplier.order(name))
        }
      }
      // end

      // part: start
      ctx.onStart(() => {
        const look = (): Promise<void> => {
          ctx.clock.after(ctx.config.look_every_ms, look)
          return restock().catch((error: unknown) => {
            if (!(error instanceof Problem)) throw error
          })
        }
        ctx.clock.after(0, look)
      })
      // end

      // part: listen
      ctx.onStart(() =>
        ctx.events.on(PantryChanged, ({ item }) => {
          if (item.amount === 0) ctx.log.info('an item is gone', { item: item.name })
        }),
      )
      // end

      // part: repair
      ctx.repair({
        id: 'pantry.amounts',
        check: () =>
          items.ids('all', 'all').flatMap((name) => {
            const item = items.find(name)
            return item !== undefined && item.amount < 0 ? [item] : []
          }),
        fix: (found) =>
          ctx.state.commit((tx) => {
            for (const item of found) tx.put(items, { ...item, amount: 0 })
          }),
      })
      // end

      // part: health
      ctx.health({
        id: 'pantry.low',
        check: () =>
          items.ids('low', 'low').map((name) => ({
            severity: 'info' as const,
            code: 'pantry_item_low',
            message: `There is little ${name} left.`,
            related_id: name,
            action: 'Bring more.',
          })),
      })
      // end

      // part: status
      const StatusSections: Point<{ name: string; schema: unknown; collect: () => JsonObject }> = {
        point: 'status-sections@1',
      }
      ctx.contribute(StatusSections, {
        name: 'pantry',
        schema: object({ items: integer(), low: integer() }),
        collect: () => ({ items: items.count('all', 'all'), low: items.count('low', 'low') }),
      })
      // end
    },
  })
}
