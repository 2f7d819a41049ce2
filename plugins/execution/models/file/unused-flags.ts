/** Flags of routes do nothing where `config/routes.toml` has routes: whoever gave them is told (models-61). */
import type { HealthCheck } from '../../../../core/plugin.js'
import { flags, type Config } from './flags.js'

/** What holds beside routes of a file too. */
const stillUsed = new Set(['default_route', 'context_window', 'idle_timeout_ms'])

const given = (config: Config): string[] =>
  Object.entries(flags).flatMap(([field, flag]) => {
    const value: unknown = new Map<string, unknown>(Object.entries(config)).get(field)
    const isUsual = value === undefined || value === '' || (field === 'provider' && value === 'demo')
    return stillUsed.has(field) || isUsual ? [] : [`--${flag}`]
  })

export const unusedFlags = (config: Config, hasFile: () => boolean): HealthCheck => {
  const unused = given(config)
  return {
    id: 'route-flags',
    check: () =>
      unused.length === 0 || !hasFile()
        ? []
        : [
            {
              severity: 'warning',
              code: 'route_flags_unused',
              message: `config/routes.toml has routes, so these flags of the daemon do nothing: ${unused.join(', ')}.`,
              action: 'Say it of a route in config/routes.toml, and start without these flags and their variables.',
            },
          ],
  }
}
