/** What the events of a run say of it: the files that tools gave, and the answer that it was there for. */
import { isJsonObject, parse, type CommandInput, type Json } from '../../../../core/plugin.js'
import { answerIn } from './answered.js'
import { RunEvents } from './event-text.js'

/** A run with the files that its tools gave, and how its question was answered, if a person reads it. */
export const withToolFiles = async (
  { client, output }: Pick<CommandInput, 'client' | 'output'>,
  run: Json,
): Promise<Json> => {
  if (output === 'json' || !isJsonObject(run) || typeof run['run_id'] !== 'string') return run
  const given = await client.get(`/v1/runs/${encodeURIComponent(run['run_id'])}/events?steps=true`)
  const events = parse(RunEvents, given)
  const files = events.ok ? events.value.flatMap(({ event }) => event.files ?? []) : []
  const answered = run['kind'] === 'parent_clarification' ? answerIn(given) : undefined
  return {
    ...run,
    ...(files.length > 0 && { tool_files: files }),
    ...(answered !== undefined && { answered }),
  }
}
