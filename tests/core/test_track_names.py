"""Names of tracks in any spelling: the longest dataset's name comes first, and numbers have no leading zeros."""

import pytest

from lapsus.core.track_names import TrackName, parse_track_name, parse_track_names

KNOWN = ("keyboard.1", "keyboard.2", "speech.1", "filler_bos")


def test_the_longest_name_of_a_dataset_is_taken_off_first():
    names = ["snips_clean", "snips_home_clean", "snips_home_fancy.1", "snips_fancy.1"]
    parsed = parse_track_names(names, KNOWN)
    assert parsed["snips_home_fancy.1"] == TrackName("snips_home", "fancy.1")
    assert parsed["snips_fancy.1"] == TrackName("snips", "fancy.1")


@pytest.mark.parametrize("number", ["1", "01", "001"])
def test_the_number_of_an_annotator_has_no_leading_zeros(number):
    assert parse_track_name(f"afqmc_keyboard_{number}", KNOWN) == TrackName("afqmc", "keyboard.1")
