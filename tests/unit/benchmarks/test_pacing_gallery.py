"""The pictures of the page about finding the limit can be drawn, and are the ones it shows."""

import re

import pytest

from benchmarks.pacing import gallery
from benchmarks.pacing.__main__ import main
from tests.kit.pages import ROOT

PAGE = ROOT / "docs" / "explanation" / gallery.PAGE


@pytest.mark.slow
def test_all_pictures_are_drawn_and_the_page_gets_their_figures(tmp_path, capsys):
    page = tmp_path / gallery.PAGE
    page.write_text("before\n<!-- begin runs -->\nstale\n<!-- end runs -->\nafter\n")
    assert main(["gallery", str(tmp_path / "figures")]) == 0
    drawn = sorted(tmp_path.glob("figures/*.svg"))
    assert len(drawn) == len(gallery.PICTURES) + 1
    assert all(each.read_text().startswith("<svg") for each in drawn)
    text = page.read_text()
    assert "stale" not in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert all(picture.title in text for picture in gallery.PICTURES)


def test_the_page_shows_every_picture():
    shown = re.findall(r"!\[[^]]+\]\(figures/(\w+)\.svg\)", PAGE.read_text("utf-8"))
    drawn = [picture.file for picture in gallery.PICTURES]
    assert sorted(shown) == sorted([*drawn, "stages"])
    there = {file.stem for file in (PAGE.parent / "figures").glob("*.svg")}
    assert there == set(shown)
