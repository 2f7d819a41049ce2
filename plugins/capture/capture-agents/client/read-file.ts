/** Reads the file of an agent. What is wrong is told by place and rule: a value could be a token. */
import { parse, Problem, readSecretFile, tomlOf } from '../../../../core/plugin.js'
import { AgentFile, isBaseUrl } from './agent-file.js'
import { clientErrors } from './errors.js'

const doubled = (values: readonly string[]): string | undefined =>
  values.find((value, at) => values.indexOf(value) !== at)

/** What no struct says. */
const problemOf = ({ capture_agent, daemon, sources }: AgentFile): string | undefined => {
  const base = new URL(daemon.base_url)
  if (!isBaseUrl(daemon.base_url) || new URL(capture_agent.heartbeat_url).origin !== base.origin)
    return 'has a capture_agent.heartbeat_url at another place than daemon.base_url'
  const streams = sources.map(({ source_id, stream_id }) => `${source_id} ${stream_id}`)
  return doubled(streams) === undefined ? undefined : 'has a stream of a source twice'
}

/** The text of a file that only its user may read; throws what `refused` makes of the reason. */
const textOf = (path: string, refused: (problem: string) => Problem): string => {
  try {
    return readSecretFile(path, { mustBePrivate: process.platform !== 'win32', mayHaveLines: true })
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    throw refused(`cannot be used: ${String(error.occurrence.details?.['reason'])}`)
  }
}

/** Throws `capture_file_refused`, also where others may read it. */
export const readAgentFile = (path: string): AgentFile => {
  const refused = (problem: string, errors?: readonly { path: string; rule: string }[]) =>
    clientErrors.capture_file_refused({ details: { path, problem }, ...(errors && { errors }) })
  const toml = tomlOf(textOf(path, refused))
  if (!toml.ok) throw refused(toml.problem)
  const parsed = parse(AgentFile, toml.table)
  if (!parsed.ok) throw refused('is not as a daemon gives it', parsed.issues)
  const problem = problemOf(parsed.value)
  if (problem !== undefined) throw refused(problem)
  return parsed.value
}
