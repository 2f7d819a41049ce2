/** What a file tool answers: its result, or what the model can correct. */
import { Problem, type Json, type ProblemFactory } from '../../../core/plugin.js'
import { failedCall, type ToolOutcome } from '../../execution/tools/contract.js'
import { fileErrors } from './errors.js'

const bySystemCode: Readonly<Record<string, ProblemFactory>> = {
  ENOENT: fileErrors.path_not_found,
  EISDIR: fileErrors.path_not_a_file,
  ENXIO: fileErrors.path_not_a_file,
  ENOTDIR: fileErrors.path_not_a_folder,
  ELOOP: fileErrors.path_outside_workspace,
  ENAMETOOLONG: fileErrors.path_invalid,
  EINVAL: fileErrors.path_invalid,
  EACCES: fileErrors.path_forbidden,
  EPERM: fileErrors.path_forbidden,
  EROFS: fileErrors.path_forbidden,
  ENOSPC: fileErrors.workspace_full,
  EDQUOT: fileErrors.workspace_full,
  EFBIG: fileErrors.workspace_full,
}

/** The code of a failed system call; undefined for any other error. */
export const systemCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

const problemOf = (error: unknown): Problem | undefined => {
  if (error instanceof Problem) return error
  return bySystemCode[systemCode(error) ?? '']?.({ cause: error })
}

/** The work's result; what the system refused is a problem of the file tools. */
export const answerable = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    throw problemOf(error) ?? error
  }
}

export const answer = async (work: () => Promise<Json>): Promise<ToolOutcome> => {
  try {
    return { type: 'result', output: await work() }
  } catch (error) {
    const problem = problemOf(error)
    if (problem === undefined) throw error
    return failedCall(problem)
  }
}
