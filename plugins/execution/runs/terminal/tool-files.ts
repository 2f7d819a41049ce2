/** The files that tools gave in a run: its events have them. */
import { isJsonObject, parse, type CommandInput, type Json } from '../../../../core/plugin.js'
import type { ShownFile } from '../../../media/assets/contract.js'
import { RunEvents } from './run-text.js'

type Asking = Pick<CommandInput, 'client' | 'output'>

const toolFiles = async ({ client }: Asking, run_id: string): Promise<ShownFile[]> => {
  const events = parse(RunEvents, await client.get(`/v1/runs/${encodeURIComponent(run_id)}/events?steps=true`))
  return events.ok ? events.value.flatMap(({ event }) => event.files ?? []) : []
}

/** A run with the files that its tools gave, if a person reads it. */
export const withToolFiles = async (asking: Asking, run: Json): Promise<Json> => {
  if (asking.output === 'json' || !isJsonObject(run) || typeof run['run_id'] !== 'string') return run
  const files = await toolFiles(asking, run['run_id'])
  return files.length === 0 ? run : { ...run, tool_files: files }
}
