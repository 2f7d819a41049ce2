/** Captures that a command puts out: on its standard output, or into the file that it is told. */
import path from 'node:path'
import { childEnvironment, within, type Clock, type Exit, type SupervisedProgram } from '../../../../core/plugin.js'
import { endingOf, fitOf, mostBytes } from './media.js'
import { removeAll, type Spool } from './spool.js'
import { itemOf, keep, labelOf, type Taken, type Way, type WayParts } from './way.js'

/** What programs that see and hear need beside what all programs have. */
const pass = [
  'XAUTHORITY',
  'DBUS_SESSION_BUS_ADDRESS',
  'PULSE_SERVER',
  'PULSE_COOKIE',
  'XDG_SESSION_TYPE',
  'XDG_CURRENT_DESKTOP',
  'HYPRLAND_INSTANCE_SIGNATURE',
  'SWAYSOCK',
]
/** How long a command may take beside what it records, milliseconds; how much of its complaints is told. */
const [patienceMs, mostComplaint] = [30_000, 300]

interface Ran {
  readonly problem: string | undefined
  readonly output: Uint8Array
}

const reasonOf = ({ code, signal }: Exit, complaint: string): string => {
  const end = code === null ? `was ended by ${signal ?? 'a signal'}` : `ended with ${code}`
  const said = complaint.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  return said === '' ? end : `${end}: ${said}`
}

interface Run {
  readonly spool: Spool
  readonly clock: Clock
  readonly command: string
  readonly environment: Readonly<Record<string, string>>
  readonly ms: number
  readonly signal: AbortSignal
}

/** Runs it where the capture was begun, and ends what it leaves; whatever it puts out beyond the most is an end too. */
const run = async ({ spool, clock, command, environment, ms, signal }: Run): Promise<Ran> => {
  const program = await spool.programs.start({ run: command, folder: path.resolve(), environment })
  const pieces: Buffer[] = []
  let [bytes, complaint] = [0, '']
  program.stdout.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes <= mostBytes) pieces.push(piece)
    else program.kill()
  })
  program.stderr.on('data', (piece: Buffer) => {
    complaint = (complaint + piece.toString('utf8')).slice(-mostComplaint)
  })
  const end = await endOf(program, { clock, ms, signal })
  await program.stop(0)
  await program.letGo()
  return { problem: problemOf(), output: Buffer.concat(pieces) }

  function problemOf(): string | undefined {
    if (bytes > mostBytes) return `put out more than ${mostBytes / 1024 / 1024} MiB`
    if (end === undefined) return `did not end within ${Math.round(ms / 1000)} seconds`
    if (!end.started) return 'could not be started'
    if (end.lost) return 'was lost'
    return end.code === 0 ? undefined : reasonOf(end, complaint)
  }
}

/** Undefined for one that does not end in time. */
const endOf = async (
  program: SupervisedProgram,
  { clock, ms, signal }: Pick<Run, 'clock' | 'ms' | 'signal'>,
): Promise<Exit | undefined> => {
  const kill = (): void => program.kill()
  signal.addEventListener('abort', kill, { once: true })
  if (signal.aborted) kill()
  const isOver = await within(clock, ms, program.exited)
  signal.removeEventListener('abort', kill)
  return isOver ? program.exited : undefined
}

/** How long a source records at a time, milliseconds. */
const recordsMs = ({ source: { driver } }: WayParts): number =>
  'segment_duration_ms' in driver ? driver.segment_duration_ms : 0

const environmentOf = (parts: WayParts, file: string): Record<string, string> => {
  const { driver } = parts.source
  return {
    ...childEnvironment({ pass, redact: (text) => text }),
    CAPTURE_FILE: file,
    CAPTURE_SOURCE_ID: parts.source.source_id,
    ...('segment_duration_ms' in driver && {
      CAPTURE_SECONDS: String(driver.segment_duration_ms / 1000),
      CAPTURE_RATE: String(driver.sample_rate_hz),
      CAPTURE_CHANNELS: String(driver.channel_count),
    }),
  }
}

export const createCommandWay = (parts: WayParts, command: string): Way => {
  const { source, tools, spool, telling, signal } = parts
  const { disk, clock } = tools
  const file = path.join(spool.folder, `take-${source.source_id}-${source.driver.metadata.role}.${endingOf(source)}`)
  const forget = (): Promise<void> => removeAll(disk, file)
  /** What it wrote into its file, else what it put out. */
  const taken = (output: Uint8Array): Uint8Array => {
    const { kind, size = 0 } = disk.stat(file) ?? {}
    return kind !== 'file' || size === 0 || size > mostBytes + 1 ? output : (disk.readFile(file) ?? output)
  }
  const failed = (problem: string): Taken => {
    if (!signal.aborted) telling.state(labelOf(source), `the command ${problem}`)
    return { type: 'failed', count: 0 }
  }
  return {
    async take() {
      await forget()
      const captured_at_ms = clock.now()
      const ms = patienceMs + 2 * recordsMs(parts)
      const environment = environmentOf(parts, file)
      const { problem, output } = await run({ spool, clock, command, environment, ms, signal })
      const isFolder = disk.stat(file)?.kind === 'folder'
      const bytes = taken(output)
      await forget()
      if (problem !== undefined) return failed(problem)
      if (isFolder) return failed('made a folder of $CAPTURE_FILE')
      const fit = fitOf(source, bytes)
      if (!fit.ok) return failed(`gave something that ${fit.problem}`)
      telling.state(labelOf(source), undefined)
      const file_name = `${source.driver.file_name_prefix}-${captured_at_ms}.${fit.ending}`
      const head = itemOf(source, { file_name, media_type: fit.media_type, captured_at_ms })
      const isKept = await keep(parts, { head, bytes, isNumbered: true })
      return isKept ? { type: 'took', count: 1 } : { type: 'failed', count: 0 }
    },
  }
}
