/** What operators change while the daemon runs: a setting with a route of its own, and a list in a file. */
import type { Kit, Point, Token } from '../../../core/plugin.js'
// part: names
import type { RuntimeSetting, Settings as SettingsService } from '../../../plugins/operator/runtime/contract.js'

const RuntimeSettings: Point<RuntimeSetting> = { point: 'runtime-settings@1' }
const Settings: Token<SettingsService> = { token: 'settings@1' }
// end

export default ({
  boolean,
  defaulted,
  defineErrors,
  defineList,
  definePlugin,
  defineRoute,
  doc,
  enums,
  integer,
  jsonReply,
  object,
  record,
}: Kit) =>
  definePlugin({
    id: 'paint',
    version: '1.0.0',
    api: 1,
    summary: 'Paints pots in the colour that is set.',
    needs: { settings: Settings },
    config: object({
      colour: doc(defaulted(enums(['red', 'green']), 'red'), 'The colour at first.'),
      gold: doc(defaulted(boolean(), false), 'Whether there is gold to paint with.'),
    }),
    register(ctx, { settings }) {
      // part: setting
      const colours = doc(enums(['red', 'green', 'gold']), 'The colour of pots.')
      const errors = defineErrors({
        paint_without_gold: {
          status: 409,
          domain: 'paint',
          detail: 'There is no gold to paint with.',
          action: 'Set gold = true in config/paint.toml when there is some, and start again.',
        },
      })
      const colour: RuntimeSetting<typeof colours, { colour: typeof colours }> = {
        name: 'paint_colour',
        schema: colours,
        initial: () => ctx.config.colour,
        check(value) {
          if (value === 'gold' && !ctx.config.gold) throw errors.paint_without_gold()
        },
        change: {
          path: 'paint-colour',
          summary: 'Sets the colour of pots.',
          fields: { colour: colours },
          value: (body) => body.colour,
          problems: [errors.paint_without_gold],
          example: { colour: 'green' },
        },
      }
      ctx.contribute(RuntimeSettings, colour)
      const colourNow = () => settings.get(colour)
      // end
      // part: list
      const pots = ctx.list(
        defineList({
          file: 'pots',
          table: 'pots',
          summary: 'The pots that there are.',
          entry: object({ size: doc(integer({ min: 1 }), 'Litres that it holds.') }),
        }),
      )
      pots.onChange((names) => ctx.log.info('pots have changed', { names, count: pots.all().size }))
      // end
      ctx.routes(
        defineRoute({
          id: 'paint.pots',
          method: 'GET',
          path: '/v1/pots',
          summary: 'The colour of each pot.',
          access: 'read',
          reply: jsonReply(record(colours)),
          handler: () => Object.fromEntries([...pots.all().keys()].map((name) => [name, colourNow()])),
        }),
      )
    },
  })
