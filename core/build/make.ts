/** The last step of a build: the program, where there is none of these modules. */
import { makeProgram } from './make-program.js'

/** Without it the program starts from its modules, which takes longer and is the same otherwise. */
await makeProgram().catch((error: unknown) =>
  process.emitWarning(`The program starts from its modules: ${String(error)}`),
)
