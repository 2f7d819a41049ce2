/** Flags of routes do nothing where their file has routes: whoever gave them is told (models-61). */
import type { HealthCheck, List } from '../../../../core/plugin.js'
import { flags, type Config } from './flags.js'

/** What holds beside routes of a file too. */
const stillUsed = new Set(['routes_file', 'default_route', 'context_window', 'idle_timeout_ms'])

const given = (config: Config): string[] =>
  Object.entries(flags).flatMap(([field, flag]) => {
    const value: unknown = new Map<string, unknown>(Object.entries(config)).get(field)
    const isUsual = value === undefined || value === '' || (field === 'provider' && value === 'demo')
    return stillUsed.has(field) || isUsual ? [] : [`--${flag}`]
  })

export const unusedFlags = (config: Config, list: Pick<List<unknown>, 'all' | 'wrong' | 'source'>): HealthCheck => {
  const unused = given(config)
  return {
    id: 'route-flags',
    check: () =>
      unused.length === 0 || list.all().size + list.wrong().size === 0
        ? []
        : [
            {
              severity: 'warning',
              code: 'route_flags_unused',
              message: `${list.source} has routes, so these flags of the daemon do nothing: ${unused.join(', ')}.`,
              action: `Say it of a route in ${list.source}, and start without these flags and their variables.`,
            },
          ],
  }
}
