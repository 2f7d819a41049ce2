/** Stacks as they are told: where the program is not its modules, in lines of the sources. */

/** Rewrites the places in the text of a stack. */
export type TellPlaces = (stack: string) => string

let tell: TellPlaces = (stack) => stack
export const tellPlacesBy = (given: TellPlaces): void => {
  tell = given
}

/** The stack of an error, if it has one. Asked by who prints or judges it alone: other errors cost nothing. */
export const stackOf = ({ stack }: Error): string | undefined => stack && tell(stack)
