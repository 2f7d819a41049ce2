/** JSON, in the sandbox: a large text may take much memory and time to be read. */
import type { JobProgram } from '../../../core/plugin.js'

export const work: JobProgram = async ({ bytes }, refuse) => {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return refuse('it is not JSON')
  }
  return { answer: {} }
}
