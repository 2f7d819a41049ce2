/** Which source is taken how: as the command line says, else as the file does, else as this system does by itself. */
import type { AgentFile, Driver, FileSource } from './agent-file.js'
import { createCommandWay } from './command.js'
import { clientErrors } from './errors.js'
import { createFolderWay } from './folder.js'
import type { Way, WayParts } from './way.js'

/** What a person asks for on the command line. */
export interface Wish {
  readonly source: string | undefined
  readonly command: string | undefined
  readonly folder: string | undefined
}

/** The file as the wish has it: only what is enabled and asked for, each with its way. Throws what is not clear. */
export const wished = (file: AgentFile, { source, command, folder }: Wish): AgentFile => {
  const enabled = file.sources.filter((one) => one.enabled)
  const sources =
    source === undefined
      ? enabled
      : enabled.filter(({ source_id, stream_id }) => source_id === source || stream_id === source)
  if (sources.length === 0)
    throw clientErrors.capture_source_unknown({
      details: { source_id: source ?? 'at all', sources: enabled.map(({ source_id }) => source_id).join(', ') },
    })
  if (command === undefined && folder === undefined) return { ...file, sources }
  if (sources.length > 1)
    throw clientErrors.capture_source_unclear({
      details: { sources: sources.length, flag: command === undefined ? 'folder' : 'command' },
    })
  const driverOf = ({ command: _command, folder: _folder, ...driver }: Driver) => ({
    ...driver,
    ...(command !== undefined && { command }),
    ...(folder !== undefined && { folder }),
  })
  return { ...file, sources: sources.map((one) => ({ ...one, driver: driverOf(one.driver) })) }
}

/** Programs that a system has. */
const usual: Partial<Record<NodeJS.Platform, Partial<Record<Driver['kind'], string>>>> = {
  darwin: { macos_screen_snapshot: 'screencapture -x -t png "$CAPTURE_FILE"' },
  linux: {
    microphone:
      'arecord -q -t wav -f S16_LE -r "$CAPTURE_RATE" -c "$CAPTURE_CHANNELS" ' +
      '-d "${CAPTURE_SECONDS%.*}" "$CAPTURE_FILE"',
  },
}

/** The command or the folder of a source; undefined where nothing tells. */
const wayOf = ({ driver }: FileSource): { command: string } | { folder: string } | undefined => {
  const { command = usual[process.platform]?.[driver.kind], folder } = driver
  if (folder !== undefined) return { folder }
  return command === undefined ? undefined : { command }
}

/** Throws `capture_way_missing` of the first source that has none. */
export const checkWays = ({ sources }: AgentFile): void => {
  const without = sources.find((source) => wayOf(source) === undefined)
  if (without !== undefined) throw clientErrors.capture_way_missing({ details: { source_id: without.source_id } })
}

/** Throws `capture_way_missing`. */
export const createWay = (parts: WayParts): Way => {
  const way = wayOf(parts.source)
  if (way === undefined) throw clientErrors.capture_way_missing({ details: { source_id: parts.source.source_id } })
  return 'folder' in way ? createFolderWay(parts, way.folder) : createCommandWay(parts, way.command)
}
