"""`topoi warmup`: kernels compiled before they are needed."""

from __future__ import annotations

from typing import Annotated

import typer

from topoi.cli.output import note


def warmup(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="lda, authors, links, labels, many-topics, blocks. Default: all."),
    ] = None,
) -> None:
    """Compile the kernels now, so that no later fit waits for them.

    For images and containers. Kernels are kept beside the package, or in NUMBA_CACHE_DIR.
    """
    from topoi.models.warmup import WARM_UPS
    from topoi.models.warmup import warmup as compile_kernels

    for name in models or WARM_UPS:
        note(f"Compiling for {name} ...")
        compile_kernels([name])
