// The one shape of errors: what the API refused, in its own sentence, with the fields that it names.

export interface FieldProblem { field: string; message: string }

export class ApiProblem extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly fields: FieldProblem[] = [],
  ) {
    super(message)
  }

  /** Whether nobody answered at all, which is not the same as being refused. */
  get isUnreachable(): boolean {
    return this.status === 0
  }

  of(field: string): string | undefined {
    return this.fields.find((each) => each.field === field)?.message
  }
}

export async function problemOf(response: Response): Promise<ApiProblem> {
  try {
    const { error } = (await response.json()) as { error: { message: string; details?: FieldProblem[] } }
    return new ApiProblem(response.status, error.message, error.details ?? [])
  } catch {
    return new ApiProblem(response.status, `The server answered ${response.status} without a reason.`)
  }
}
