/** A sign of life: what goes on in a run, and for how long, while nothing of it is shown. */
import { beginning, type CommandInput } from '../../../../core/plugin.js'
import type { RunRow } from '../terminal/run-text.js'
import type { Sheet } from './sheet.js'

export interface Alive {
  /** A step of the run. */
  step(type: string, tool_name: string): void
  /** The run as it is now: what waits for people or for its turn does nothing. */
  look(run: RunRow): void
  close(): void
}

interface AliveParts {
  readonly input: Pick<CommandInput, 'now' | 'pause'>
  readonly sheet: Pick<Sheet, 'note'>
  /** Ends it. */
  readonly signal: AbortSignal
}

const tickMs = 1_000
const mostSigns = 40

export const createAlive = ({ input: { now, pause }, sheet, signal }: AliveParts): Alive => {
  let doing: { readonly what: string; readonly since: number } | undefined
  const begin = (what: string): void => {
    doing = { what: beginning(what, mostSigns), since: now() }
  }
  const stop = (): void => {
    doing = undefined
    sheet.note('')
  }
  const tick = async (): Promise<void> => {
    while (!signal.aborted) {
      await pause(tickMs, signal)
      if (!signal.aborted && doing !== undefined)
        sheet.note(`… ${doing.what} ${Math.round((now() - doing.since) / 1000)} s`)
    }
  }
  void tick()
  return {
    step(type, tool_name) {
      if (type === 'model_attempt_started') begin('thinking')
      if (type === 'tool_started') begin(tool_name)
      if (type === 'model_text_delta') stop()
    },
    look({ status, waiting_for_model_route, model_call_held }) {
      const works = status === 'running' && waiting_for_model_route === undefined && model_call_held === undefined
      if (!works) stop()
      else if (doing === undefined) begin('working')
    },
    close: stop,
  }
}
