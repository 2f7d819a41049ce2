/** Reads the file of an agent. What is wrong is told by place and rule: a value could be a token. */
import { parse, readSecretFile, tomlOf } from '../../../../core/plugin.js'
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

/** Throws `capture_file_refused`, and `secret_file_unreadable` where others may read it. */
export const readAgentFile = (path: string): AgentFile => {
  const refused = (problem: string, errors?: readonly { path: string; rule: string }[]) =>
    clientErrors.capture_file_refused({ details: { path, problem }, ...(errors && { errors }) })
  const toml = tomlOf(readSecretFile(path, { mustBePrivate: process.platform !== 'win32', mayHaveLines: true }))
  if (!toml.ok) throw refused(toml.problem)
  const parsed = parse(AgentFile, toml.table)
  if (!parsed.ok) throw refused('is not as a daemon gives it', parsed.issues)
  const problem = problemOf(parsed.value)
  if (problem !== undefined) throw refused(problem)
  return parsed.value
}
