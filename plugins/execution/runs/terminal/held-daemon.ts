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
  type JsonObject,
} from '../../../../core/plugin.js'

const Warnings = open({ health: open({ warnings: optional(array(open({ code: string() }))) }) })

const holds = async (client: CommandInput['client']): Promise<boolean> => {
  const status = parse(Warnings, await client.get('/v1/status').catch(() => null))
  return status.ok && (status.value.health.warnings ?? []).some(({ code }) => code === 'daemon_held')
}

const isQueued = (run: Json): run is JsonObject => isJsonObject(run) && run['status'] === 'queued'

/** A run or a list of runs, with a word about the hold if that is why one is queued and a person reads it. */
export const withHold = async (
  { client, output }: Pick<CommandInput, 'client' | 'output'>,
  answer: Json,
): Promise<Json> => {
  const runs = Array.isArray(answer) ? answer : [answer]
  if (output === 'json' || !runs.some(isQueued) || !(await holds(client))) return answer
  const told = runs.map((run) => (isQueued(run) ? { ...run, daemon_held: true } : run))
  return Array.isArray(answer) ? told : (told[0] ?? answer)
}
