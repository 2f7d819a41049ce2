/** Whether a queued run waits for the operator's word: a daemon that holds begins none. */
import {
  array,
  isJsonObject,
  open,
  optional,
  parse,
  string,
  type CommandInput,
  type Json,
} from '../../../../core/plugin.js'

const Warnings = open({ health: open({ warnings: optional(array(open({ code: string() }))) }) })

const holds = async (client: CommandInput['client']): Promise<boolean> => {
  const status = parse(Warnings, await client.get('/v1/status').catch(() => null))
  return status.ok && (status.value.health.warnings ?? []).some(({ code }) => code === 'daemon_held')
}

/** The run, with a word about the hold if that is why it is queued and a person reads it. */
export const withHold = async (
  { client, output }: Pick<CommandInput, 'client' | 'output'>,
  run: Json,
): Promise<Json> => {
  if (output === 'json' || !isJsonObject(run)) return run
  return run['status'] === 'queued' && (await holds(client)) ? { ...run, daemon_held: true } : run
}
