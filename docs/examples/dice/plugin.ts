/**
 * A whole third-party plugin: a tool that models may call, a record of every
 * roll that survives a kill, and a route to read them. It imports types only:
 * at run time everything comes from the kit that the host passes in.
 */
import type { Kit, Point } from '../../../core/plugin.js'
import type { Tool } from '../../../plugins/execution/tools/contract.js'

type Roll = { roll_id: string; session_id: string; sides: number; result: number; rolled_at_ms: number }

/** A point is its id: naming it is enough to contribute to it. */
const Tools: Point<Tool> = { point: 'tools@1' }

export default ({
  array,
  defaulted,
  definePlugin,
  doc,
  defineRoute,
  integer,
  jsonReply,
  named,
  object,
  string,
  timestamp,
}: Kit) => {
  const Roll = named(
    'Roll',
    object({ roll_id: string(), session_id: string(), sides: integer(), result: integer(), rolled_at_ms: timestamp() }),
  )
  const RollInput = object({ sides: defaulted(integer({ min: 2, max: 1000 }), 6) })

  return definePlugin({
    id: 'dice',
    version: '1.0.0',
    api: 1,
    summary: 'Rolls dice and remembers every roll.',
    config: object({
      most_rolls: doc(defaulted(integer({ min: 1, max: 1000 }), 100), 'Rolls that the route shows, at most.'),
    }),
    register(ctx) {
      const rolls = ctx.state.collection<Roll>({
        name: 'dice_rolls',
        version: 1,
        id: (roll) => roll.roll_id,
        schema: Roll,
        indexes: { all: { group: () => 'all' } },
        settled: () => true,
      })
      const rollDice: Tool<typeof RollInput> = {
        name: 'roll_dice',
        description: 'Rolls one die and returns the result.',
        input: RollInput,
        effect: 'once',
        permission: 'allow',
        parallel: true,
        timeout_ms: 1000,
        sandbox: 'read_only',
        run: ({ sides }, { session_id }) => {
          const result = 1 + (parseInt(ctx.ids.random(4), 16) % sides)
          const roll: Roll = { roll_id: ctx.ids.make('roll'), session_id, sides, result, rolled_at_ms: ctx.clock.now() }
          return { type: 'result', output: { result }, apply: (tx) => tx.insert(rolls, roll) }
        },
      }
      ctx.contribute(Tools, rollDice)
      ctx.routes(
        defineRoute({
          id: 'dice.list',
          method: 'GET',
          path: '/v1/dice',
          summary: 'The latest rolls, newest first.',
          access: 'read',
          reply: jsonReply(array(Roll)),
          handler: () => rolls.list({ index: 'all', group: 'all', limit: ctx.config.most_rolls, order: 'desc' }),
        }),
      )
    },
  })
}
