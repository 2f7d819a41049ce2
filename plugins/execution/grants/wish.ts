/** What a person says on the command line of an approval that is to be remembered. */
import type { CommandInput, JsonObject } from '../../../core/plugin.js'

/** What a grant is to cover, and how long, from flags; the daemon says what is wrong with a number. */
export const wishOf = ({ flags: { 'command-prefix': prefix, hours } }: Pick<CommandInput, 'flags'>): JsonObject => ({
  ...(typeof prefix === 'string' && { command_prefix: prefix }),
  ...(typeof hours === 'string' && {
    expires_in_ms: /^\d+(?:\.\d+)?$/u.test(hours) ? Math.round(Number(hours) * 3_600_000) : hours,
  }),
})
